package planning

// SpotSplit says how a plan keeps a workload's limits on spot nodes (package scheduling/spotlimits): which of the workload's waiting pods
// may not be on spot nodes, and which spot pools its other waiting pods may use. The plan places every pod in accordance with the split.
type SpotSplit struct {
	// Workload is "Kind namespace/name", and Limits are its annotations.
	Workload string `json:"workload"`
	Limits   string `json:"limits"`
	// Pods is how many pods the workload has, including running ones. MostOnSpot is how many of these pods may be on spot nodes. MostOnPool
	// is how many of them may be on spot nodes of one instance type in one zone.
	Pods       int `json:"pods"`
	MostOnSpot int `json:"mostOnSpot"`
	MostOnPool int `json:"mostOnPool"`
	// OffSpot are the waiting pods that may not be on spot nodes.
	OffSpot []PodKey `json:"offSpot,omitempty"`
	// Parts are the other waiting pods. The spot pools of two parts are disjoint.
	Parts []SpotPart `json:"parts,omitempty"`
}

// SpotPart is a group of waiting pods, with the spot pools that they may use. They may also be on nodes that are not spot.
type SpotPart struct {
	Pods []PodKey `json:"pods"`
	// Pools are the spot pools, by zone. If Any is set, the pods may use all spot pools, and Pools is nil.
	Pools []SpotPools `json:"pools,omitempty"`
	Any   bool        `json:"any,omitempty"`
}

// SpotPools are the spot pools of some instance types in a zone.
type SpotPools struct {
	Zone          string   `json:"zone"`
	InstanceTypes []string `json:"instanceTypes"`
}
