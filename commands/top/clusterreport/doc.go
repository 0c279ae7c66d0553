// Package clusterreport declares the report that the controller serves at /debug/cluster: its nodes with their pods, the pods that wait, the
// commands under way, and what the nodes cost. The controller writes reports, and the command top and the controller's page read them.
//
//	var report clusterreport.Report
//	err := json.NewDecoder(response.Body).Decode(&report)
//	for _, node := range report.ByUse() {
//		fmt.Println(node.Name, node.State, node.Use())
//	}
//
// Stability: beta.
package clusterreport
