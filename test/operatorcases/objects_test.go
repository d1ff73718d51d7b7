package operatorcases

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// recordedGroup is what the operator writes for one process group. Pod, claim and config are
// the hashes that it compares; a nil one was not written.
type recordedGroup struct {
	ID     v1beta2.ProcessGroupID `json:"id"`
	Class  v1beta2.ProcessClass   `json:"class"`
	Pod    *string                `json:"pod"`
	Config *string                `json:"config"`
	Claim  *string                `json:"claim"`
	Lines  []string               `json:"lines"`
}

// recordedCluster is a cluster with everything that the operator writes for it.
type recordedCluster struct {
	Cluster v1beta2.FoundationDBCluster `json:"cluster"`
	Data    map[string]string           `json:"data"`
	Groups  []recordedGroup             `json:"groups"`
}

// compareObjects compares hashes, the ConfigMap and command lines. These decide whether
// pods are replaced or restarted when a cluster changes hands.
func compareObjects(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var recorded recordedCluster
	if err := c.Decode(&recorded, &struct{}{}); err != nil {
		return nil, nil, err
	}
	operator, ours = opcases.Outcome{}, opcases.Outcome{}
	for key, text := range recorded.Data {
		operator["data "+key] = text
	}
	for _, g := range recorded.Groups {
		g.addTo(operator)
	}
	cluster, err := recorded.Cluster.Normalized()
	if err != nil {
		return operator, opcases.Outcome{"spec": refused}, nil //nolint:nilerr // a refusal is an outcome
	}
	configMap, err := objects.ConfigMap(cluster)
	if err != nil {
		return nil, nil, err
	}
	for key, text := range configMap.Data {
		ours["data "+key] = text
	}
	for _, g := range recorded.Groups {
		written, err := writtenFor(cluster, g.ID, g.Class)
		if err != nil {
			return nil, nil, err
		}
		written.addTo(ours)
	}
	return operator, ours, nil
}

func (g recordedGroup) addTo(o opcases.Outcome) {
	for part, hash := range map[string]*string{"pod": g.Pod, "config": g.Config, "claim": g.Claim} {
		if hash != nil {
			o[string(g.ID)+" "+part] = *hash
		}
	}
	for i, line := range g.Lines {
		if strings.HasPrefix(line, "ERR: ") {
			line = refused
		}
		o[fmt.Sprintf("%s line %d", g.ID, i+1)] = line
	}
}

// recordedVariables are what the pods of the recorded command lines substituted.
func recordedVariables(id v1beta2.ProcessGroupID) map[string]string {
	return map[string]string{
		v1beta2.EnvBinaryDir: "/usr/bin", v1beta2.EnvInstanceID: string(id), v1beta2.EnvMachineID: "machine-a",
		v1beta2.EnvZoneID: "zone-a", v1beta2.EnvPublicIP: "10.1.2.3", v1beta2.EnvPodIP: "10.9.9.9", v1beta2.EnvDNSName: "a.b.c",
	}
}

// writtenFor is what this program writes for a process group.
func writtenFor(c *v1beta2.FoundationDBCluster, id v1beta2.ProcessGroupID, class v1beta2.ProcessClass) (recordedGroup, error) {
	written := recordedGroup{ID: id, Class: class}
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}
	launch := objects.DesiredLaunch(c, class)
	config, err := objects.ConfigMapHash(c, launch)
	if err != nil {
		return written, err
	}
	claim, err := objects.PersistentVolumeClaim(c, g)
	if err != nil {
		return written, err
	}
	pod, err := objects.Pod(c, g)
	if err != nil {
		return written, err
	}
	written.Config = &config
	written.Pod = new(pod.Annotations[v1beta2.AnnotationLastAppliedSpec])
	if claim != nil {
		written.Claim = new(claim.Annotations[v1beta2.AnnotationLastAppliedSpec])
	}
	for number := 1; number <= launch.Servers; number++ {
		line, err := objects.CommandLine(c, launch, number, recordedVariables(id))
		if err != nil {
			line = refused
		}
		written.Lines = append(written.Lines, line)
	}
	return written, nil
}
