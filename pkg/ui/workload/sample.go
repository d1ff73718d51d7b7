package workload

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/workload"
)

// Sample is what the courses show of a document, which holds much more: a dashboard keeps thousands.
type Sample struct {
	// asOf is nil where the time of the document is unknown.
	asOf *time.Time
	load workload.Load
	// subjects are the processes in their order, and busy their CPU.
	subjects []string
	busy     []*float64
}

// NewSample returns what to keep of a document; nil without one. The sample before it, nil for none, shares the
// names of the same processes.
func NewSample(v *workload.View, before *Sample) *Sample {
	if v == nil {
		return nil
	}
	s := &Sample{asOf: v.AsOf, load: v.Load}
	for _, p := range v.Processes {
		s.subjects, s.busy = append(s.subjects, p.Subject()), append(s.busy, p.Busy())
	}
	if before != nil && slices.Equal(before.subjects, s.subjects) {
		s.subjects = before.subjects
	}
	return s
}
