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
	seen map[types.NamespacedName]string // nil before anything was read
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

// Replace replaces all marks. A list counts when it differs from the stored marks: those of what was read before the
// watch began, or of the watch that broke.
func (m *marks) Replace(list []any, _ string) error {
	objects := make([]client.Object, len(list))
	for i, o := range list {
		var err error
		if objects[i], err = asObject(o); err != nil {
			return err
		}
	}
	now := m.marksOf(objects)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen != nil && !maps.Equal(m.seen, now) {
		m.changed()
	}
	m.seen = now
	return nil
}

func (m *marks) marksOf(objects []client.Object) map[types.NamespacedName]string {
	all := make(map[types.NamespacedName]string, len(objects))
	for _, o := range objects {
		all[client.ObjectKeyFromObject(o)] = m.of(o)
	}
	return all
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
