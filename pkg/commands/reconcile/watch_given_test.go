package reconcile_test

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/pace"
)

// longerThanBetweenPasses counts the rests after passes that failed or were held up.
func longerThanBetweenPasses(d time.Duration) bool { return d > pace.DefaultInterval }
