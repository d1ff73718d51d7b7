package commands

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// involvedName is the field of an event with the name of its object.
const involvedName = "involvedObject.name"

// eventsOf reads the events of objects by name. If that is forbidden, hidden has the reason,
// and nothing else is missing.
func (e *Env) eventsOf(ctx context.Context, key types.NamespacedName, names ...string) (events []corev1.Event, hidden string) {
	c, err := e.Client()
	if err != nil {
		return nil, explain(err)
	}
	for _, name := range names {
		list := &corev1.EventList{}
		selector := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(involvedName, name)}
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), selector, client.Limit(pageSize)); err != nil {
			return nil, explain(fmt.Errorf("listing the events of %s: %w", name, err))
		}
		events = append(events, list.Items...)
	}
	return events, ""
}
