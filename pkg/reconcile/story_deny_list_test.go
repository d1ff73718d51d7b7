package reconcile_test

import (
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Of several instances one is shut out: it looks after its pods, and changes nothing of
// the database until it is allowed to again.
func TestADeniedControlPlaneInstanceDoesNotChangeTheDatabase(t *testing.T) {
	st := newStory(t, 12, func(c *v1beta2.FoundationDBCluster) {
		c.Spec.ProcessGroupIDPrefix = "dc1"
		c.Spec.LockOptions.DisableLocks = new(false)
	})
	st.heading("the spec denies the lock to dc1, which is this instance, and asks for 4 logs")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) {
		s.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: "dc1"}}
		s.DatabaseConfiguration.Logs = 4
	})
	st.times(3, time.Minute)
	if logs := st.w.Resource.Status.DatabaseConfiguration.Logs; logs == 4 {
		t.Error("changed the database without the lock")
	}
	st.heading("the spec allows dc1 the lock again")
	st.spec(func(s *v1beta2.FoundationDBClusterSpec) { s.LockOptions.DenyList[0].Allow = true })
	st.run(time.Minute, always)
	st.ends()
}
