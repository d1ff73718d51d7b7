package dumps

import (
	"bytes"
	"encoding/json"
	"slices"
)

// operatorName is in every Deployment and Lease of a FoundationDB operator.
const operatorName = "fdb-kubernetes-operator"

// Trim leaves out what commands do not need of objects in other namespaces than those of the
// clusters: the environments and command lines of their pods, and Deployments and Leases that are
// of no operator.
func Trim(d *Dump) {
	own := map[string]bool{}
	for _, c := range d.Manifest.Clusters {
		own[c.Namespace] = true
	}
	foreign := func(raw json.RawMessage) bool {
		var o fieldsOfObject
		return json.Unmarshal(raw, &o) == nil && o.Metadata.Namespace != "" && !own[o.Metadata.Namespace]
	}
	for i := range d.Lists {
		l := &d.Lists[i]
		switch l.Resource {
		case "pods":
			for j, raw := range l.Items {
				if foreign(raw) {
					l.Items[j] = edited(raw, trimmedPod)
				}
			}
		case "deployments", "leases":
			l.Items = slices.DeleteFunc(l.Items, func(raw json.RawMessage) bool {
				return foreign(raw) && !bytes.Contains(raw, []byte(operatorName))
			})
		}
	}
}

// trimmedPod leaves out what does not decide where other pods fit.
func trimmedPod(o map[string]any) any {
	if metadata, is := o["metadata"].(map[string]any); is {
		delete(metadata, "annotations")
		delete(metadata, "managedFields")
	}
	spec, _ := o["spec"].(map[string]any)
	delete(spec, "volumes")
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		containers, _ := spec[field].([]any)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			for _, name := range []string{"env", "envFrom", "command", "args", "volumeMounts", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
				delete(container, name)
			}
		}
	}
	return o
}
