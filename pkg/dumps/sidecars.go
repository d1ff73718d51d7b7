package dumps

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Sidecar returns what the sidecar of a split pod reported. While a dump is written, query reads what
// the dump lacks, which is added to it.
func (f *Facts) Sidecar(at SidecarReport, query func() (any, error)) (json.RawMessage, error) {
	if known, found := f.sidecar(at); found {
		return known.answer()
	}
	if f.Live == nil {
		return nil, errNotInDump
	}
	report, err := query() // of several pods at once
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err // the command was interrupted
	case err != nil:
		at.Failure = err.Error()
	default:
		at.Report = encoded(report)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Dump.Sidecars = append(f.Dump.Sidecars, at)
	return at.answer()
}

func (f *Facts) sidecar(at SidecarReport) (SidecarReport, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.Dump.Sidecars, func(s SidecarReport) bool {
		return s.Namespace == at.Namespace && s.Pod == at.Pod && slices.Equal(s.Binaries, at.Binaries)
	})
	if i < 0 {
		return SidecarReport{}, false
	}
	return f.Dump.Sidecars[i], true
}

func (s SidecarReport) answer() (json.RawMessage, error) {
	if s.Failure != "" {
		return nil, errors.New(s.Failure)
	}
	return s.Report, nil
}
