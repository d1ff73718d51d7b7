package fdb

import "testing"

func TestQueueBytesAreInputMinusDurableBytes(t *testing.T) {
	counter := func(n int64) *Counter { return &Counter{Counter: &n} }
	cases := map[string]struct {
		role Role
		want *int64
	}{
		"both counters":          {Role{InputBytes: counter(500), DurableBytes: counter(120)}, new(int64(380))},
		"read at two moments":    {Role{InputBytes: counter(100), DurableBytes: counter(120)}, new(int64(0))},
		"no input":               {Role{DurableBytes: counter(120)}, nil},
		"nothing durable known":  {Role{InputBytes: counter(500), DurableBytes: &Counter{}}, nil},
		"a role without a queue": {Role{Role: RoleCommitProxy}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := c.role.QueueBytes()
			if (got == nil) != (c.want == nil) || (got != nil && *got != *c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
