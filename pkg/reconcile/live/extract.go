package live

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extract returns pointers to the items of a list.
func extract(list client.ObjectList) []runtime.Object {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil // only lists without items fail, and those have nothing to return
	}
	return items
}
