package ui

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// WriteRestoreStatus prints one restore: a sentence, then the facts.
func WriteRestoreStatus(w io.Writer, v inspect.RestoreStatusView, o StatusOptions) error {
	p := &page{w: w, o: o}
	p.verdict(v.Metadata, v.Done, v.Summary)
	p.section("Restore", inspect.Origin{Source: inspect.SourceLive, AsOf: v.AsOf})
	p.fact("Into", v.Cluster)
	p.fact("From", phrase.Or(v.URL, phrase.UnknownCell))
	if v.UnknownReason != "" {
		p.fact("State", "unknown: "+v.UnknownReason)
		p.fact("Last status", phrase.Or(v.RecordedState, "never started"))
		return p.err
	}
	p.fact("State", stateOr(v.State, "never started"))
	if v.BlocksTotal != nil {
		version := phrase.UnknownCell
		if v.Version != nil {
			version = fmt.Sprint(*v.Version)
		}
		p.fact("Version", version)
		p.fact("Progress", v.Progress())
		p.fact("Written", phrase.BytesOr(v.BytesWritten, phrase.UnknownCell))
	}
	return p.err
}
