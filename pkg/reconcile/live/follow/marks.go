package follow

import (
	"fmt"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// marks stores of every object a string that differs when a relevant part of it changes. A
// Follower stores nothing else.
type marks struct {
	of      func(client.Object) string
	changed func()

	mu   sync.Mutex
	seen map[types.NamespacedName]string // nil before the first list
}

var _ cache.ReflectorStore = (*marks)(nil)

func (m *marks) Add(o any) error { return m.Update(o) }

func (m *marks) Update(o any) error {
	object, err := asObject(o)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key, mark := client.ObjectKeyFromObject(object), m.of(object)
	if m.seen == nil {
		m.seen = map[types.NamespacedName]string{}
	}
	if m.seen[key] != mark {
		m.seen[key] = mark
		m.changed()
	}
	return nil
}

func (m *marks) Delete(o any) error {
	object, err := asObject(o)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, client.ObjectKeyFromObject(object))
	m.changed()
	return nil
}

// Replace replaces all marks. The first list is what a pass reads as well; a later one, after a
// watch broke, counts when it differs from the stored marks.
func (m *marks) Replace(list []any, _ string) error {
	now := make(map[types.NamespacedName]string, len(list))
	for _, o := range list {
		object, err := asObject(o)
		if err != nil {
			return err
		}
		now[client.ObjectKeyFromObject(object)] = m.of(object)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen != nil && !maps.Equal(m.seen, now) {
		m.changed()
	}
	m.seen = now
	return nil
}

// Resync has nothing to do: a watch reads everything again by itself from time to time.
func (m *marks) Resync() error { return nil }

func asObject(o any) (client.Object, error) {
	object, ok := o.(client.Object)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T in a watch", o)
	}
	return object, nil
}

// text is values as one string, the same for equal values.
func text(values ...any) string { return fmt.Sprintf("%v", values) }
