package fdb

import "slices"

// Remarks with which the collection of a status document ends early.
const (
	// MessageIncompleteTimeout is the remark of a client that got no answer in time.
	MessageIncompleteTimeout = "status_incomplete_timeout"
	// MessageIncomplete lists what the cluster controller could not collect. It stands
	// beside a complete list of processes as well, so it proves nothing without its reasons.
	MessageIncomplete = "status_incomplete"
	// ReasonDeadlineExceeded is the reason of MessageIncomplete when the collection as a
	// whole was late, from 7.3.78 and 7.4.7. Any part of the document can be absent then.
	ReasonDeadlineExceeded = "Status collection deadline exceeded."
)

// Incomplete reports whether the collection of the document ended early, so that nothing
// follows from what is absent. An available database always has processes; a document
// without them is incomplete even where no remark explains it. One that is unavailable
// or was never configured can lack them for other reasons.
func (s *Status) Incomplete() bool {
	return s.HasMessage(MessageIncompleteTimeout) || s.HasClientMessage(MessageIncompleteTimeout) ||
		s.deadlineExceeded() || (s.Available() && len(s.Cluster.Processes) == 0)
}

func (s *Status) deadlineExceeded() bool {
	late := func(r Reason) bool { return r.Description == ReasonDeadlineExceeded }
	return slices.ContainsFunc(slices.Concat(s.Cluster.Messages, s.Client.Messages), func(m Message) bool {
		return m.Name == MessageIncomplete && slices.ContainsFunc(m.Reasons, late)
	})
}
