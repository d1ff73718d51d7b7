package fdbsim

import (
	"testing"
	"time"
)

// BenchmarkHistory is the size of an ordinary simulated history: a cluster from
// nothing, an exclusion, a kill and some status documents.
func BenchmarkHistory(b *testing.B) {
	for b.Loop() {
		t := &testing.T{}
		c := configured(t)
		for range 5 {
			c.exec("status json")
		}
		c.exec("exclude no_wait locality_instance_id:storage-5")
		c.exec("kill; kill 127.0.2.11:4501; sleep 5")
		c.Advance(10 * time.Minute)
	}
}
