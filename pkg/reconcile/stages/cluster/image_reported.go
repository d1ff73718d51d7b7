package cluster

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/readings"
)

// imageRunsAnother returns why the image that the spec has for spec.version proves to be of another version: processes of
// pods that have this very image report that, and no process reports spec.version. A digest, or a tag such as latest,
// names no version. Nil where the image differs between the versions, or nothing is reported.
func imageRunsAnother(s plan.Snapshot) error {
	if s.Database.Status == nil {
		return nil
	}
	reported := map[v1beta2.ProcessGroupID]string{}
	for _, p := range s.Database.Status.ProcessList() {
		version := readings.Released(p)
		if version == s.Cluster.Spec.Version {
			return nil // a tag that has another image now
		}
		if version != "" {
			reported[v1beta2.ProcessGroupID(p.InstanceID())] = version
		}
	}
	var groups []v1beta2.ProcessGroupID
	var image, version string
	for _, g := range s.Groups() {
		pod, found := s.Pod(g), reported[g.ProcessGroupID]
		if pod == nil || found == "" {
			continue
		}
		desired, err := objects.MainImage(s.Cluster, g.ProcessClass, s.Cluster.Spec.Version)
		if err == nil && desired == readings.MainImage(pod) {
			groups, image, version = append(groups, g.ProcessGroupID), desired, found
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return fmt.Errorf("the image %s has %s, as %s %s, and spec.version is %s: set spec.mainContainer.imageConfigs to an image of %s; "+
		"if the tag has another image now, set spec.ignoreUpgradabilityChecks", image, version, readings.SomeOf(groups),
		phrase.Either(len(groups), "reports", "report"), s.Cluster.Spec.Version, s.Cluster.Spec.Version)
}
