package check

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// inheritedTemplate returns what a merge patch of the pod template of a class has to begin with, so
// that it changes nothing: a class without its own template gets a copy of the general one, which
// it would otherwise lose. Merged into an own template it is empty.
func inheritedTemplate(cluster *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (map[string]any, error) {
	template := map[string]any{}
	if cluster.Spec.Processes[class].PodTemplate != nil {
		return template, nil
	}
	if general := cluster.Spec.Processes[v1beta2.ProcessClassGeneral].PodTemplate; general != nil {
		text, err := json.Marshal(general)
		if err != nil {
			return nil, fmt.Errorf("copy the general pod template: %w", err)
		}
		if err := json.Unmarshal(text, &template); err != nil {
			return nil, fmt.Errorf("copy the general pod template: %w", err)
		}
	}
	if spec := child(template, "spec"); spec["containers"] == nil {
		spec["containers"] = []map[string]string{{"name": v1beta2.ContainerMain}} // a template needs one
	}
	return template, nil
}

// child returns the object under a key, which it adds if there is none.
func child(of map[string]any, key string) map[string]any {
	found, is := of[key].(map[string]any)
	if !is {
		found = map[string]any{}
		of[key] = found
	}
	return found
}

// templatePatch returns a merge patch of the pod template of a class.
func templatePatch(class v1beta2.ProcessClass, template map[string]any) (string, error) {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"processes": map[string]any{string(class): map[string]any{"podTemplate": template}}}})
	if err != nil {
		return "", fmt.Errorf("write the patch: %w", err)
	}
	return string(text), nil
}

// patch returns the command that changes the resource by a merge patch. A patch that repeats values which may be secrets,
// out of the general pod template, is not printed: the resource has to be edited.
func (f Facts) patch(patch string) []string {
	var content any
	if err := json.Unmarshal([]byte(patch), &content); err != nil || redact.Secrets(content) {
		return []string{"edit", "foundationdbcluster", f.Cluster.Name}
	}
	return []string{"patch", "foundationdbcluster", f.Cluster.Name, "--type", "merge", "-p", patch}
}
