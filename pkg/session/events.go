package session

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// EventsIn lists all events of a namespace: they cannot be selected by the labels of their
// objects.
func EventsIn(ctx context.Context, c client.Client, namespace string) ([]corev1.Event, error) {
	var all []corev1.Event
	var next string
	for {
		page := &corev1.EventList{}
		if err := c.List(ctx, page, client.InNamespace(namespace), client.Limit(PageSize), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("list events %s: %w", InNamespace(namespace), err)
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// InvolvedName is the field of an event with the name of its object.
const InvolvedName = "involvedObject.name"

// EventsOf reads the events of objects by name. If that is forbidden, hidden has the reason,
// and nothing else is missing.
func (e Lookup) EventsOf(ctx context.Context, key types.NamespacedName, names ...string) (events []corev1.Event, hidden string) {
	c, err := e.Client()
	if err != nil {
		return nil, exit.Explain(err)
	}
	for _, name := range names {
		list := &corev1.EventList{}
		selector := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(InvolvedName, name)}
		if err := c.List(ctx, list, client.InNamespace(key.Namespace), selector, client.Limit(PageSize)); err != nil {
			return nil, exit.Explain(fmt.Errorf("list the events of %s: %w", name, err))
		}
		events = append(events, list.Items...)
	}
	return events, ""
}
