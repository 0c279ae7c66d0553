package scheduling_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/parts"
)

// The parts of snapshots, by the short names that the tests of this package use.
type (
	nodeOption = parts.NodeOption
	podOption  = parts.PodOption
	poolOption = parts.PoolOption
	testingT   = parts.TestingT
)

const (
	archKey        = parts.ArchKey
	capacityKey    = parts.CapacityKey
	driverName     = parts.DriverName
	gpuName        = parts.GPUName
	opDoesNotExist = parts.OpDoesNotExist
	opExists       = parts.OpExists
	opGt           = parts.OpGt
	opIn           = parts.OpIn
	opLt           = parts.OpLt
	opNotIn        = parts.OpNotIn
	typeKey        = parts.TypeKey
	zoneKey        = parts.ZoneKey
)

var (
	allocatable         = parts.Allocatable
	amounts             = parts.Amounts
	apart               = parts.Apart
	awayFrom            = parts.AwayFrom
	bound               = parts.Bound
	catalogue           = parts.Catalogue
	chance              = parts.Chance
	cluster             = parts.Cluster
	compile             = parts.Compile
	container           = parts.Container
	cordoned            = parts.Cordoned
	daemonSet           = parts.DaemonSet
	draw                = parts.Draw
	ebsDisk             = parts.EBSDisk
	expression          = parts.Expression
	gceDisk             = parts.GCEDisk
	in                  = parts.In
	inZone              = parts.InZone
	initContainers      = parts.InitContainers
	iscsiDisk           = parts.ISCSIDisk
	label               = parts.Label
	labelled            = parts.Labelled
	limit               = parts.Limit
	typeOf              = parts.InstanceType
	makeClaims          = parts.MakeClaims
	matching            = parts.Matching
	mustHide            = parts.MustHide
	mustPlace           = parts.MustPlace
	near                = parts.Near
	node                = parts.Node
	nodeLabel           = parts.NodeLabel
	nodePool            = parts.NodePool
	nodeTaints          = parts.NodeTaints
	number              = parts.Number
	ofOS                = parts.OfOS
	ofPool              = parts.OfPool
	offering            = parts.Offering
	onDisk              = parts.OnDisk
	overhead            = parts.Overhead
	ownedBy             = parts.OwnedBy
	percent             = parts.Percent
	place               = parts.Place
	planIn              = parts.PlanIn
	planOf              = parts.PlanOf
	pod                 = parts.Pod
	pods                = parts.Pods
	poolLabel           = parts.PoolLabel
	poolNeeds           = parts.PoolNeeds
	poolTaints          = parts.PoolTaints
	preferred           = parts.Preferred
	priority            = parts.Priority
	randomCostModel     = parts.RandomCostModel
	randomRuledSnapshot = parts.RandomRuledSnapshot
	randomSnapshot      = parts.RandomSnapshot
	randomSpec          = parts.RandomSpec
	rbdDisk             = parts.RBDDisk
	requests            = parts.Requests
	required            = parts.Required
	requiredFields      = parts.RequiredFields
	reservedOffering    = parts.ReservedOffering
	ruled               = parts.Ruled
	selecting           = parts.Selecting
	selector            = parts.Selector
	show                = parts.Show
	sidecar             = parts.Sidecar
	sold                = parts.Sold
	someOf              = parts.SomeOf
	spreadBy            = parts.SpreadBy
	spreadOver          = parts.SpreadOver
	taints              = parts.Taints
	text                = parts.Text
	tolerates           = parts.Tolerates
	toleration          = parts.Toleration
	volume              = parts.Volume
	wantPlace           = parts.WantPlace
	weight              = parts.Weight
	with                = parts.With
)

func oneOf[T any](t *rapid.T, list ...T) T { return parts.OneOf(t, list...) }

func mustRollback[M any](t testingT, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	parts.MustRollback(t, trial, to)
}

func wantStale[M any](t *testing.T, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	parts.WantStale(t, trial, to)
}
