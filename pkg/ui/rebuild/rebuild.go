// Package rebuild renders a manifest that was inferred from what is left of a cluster; pure.
package rebuild

import (
	"fmt"
	"io"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// width is that of comments: a manifest is reviewed in an editor.
const width = 96

// Kinds are the kinds of documents of this package.
func Kinds() []ui.Kind {
	return []ui.Kind{{Name: "RecoveryManifest", PrintedBy: "recover manifest", Document: rebuild.View{}}}
}

// Write prints the manifest in YAML, after comments with what is unknown and the sources of what is known.
func Write(w io.Writer, v rebuild.View) error {
	w = layout.Asked(w) // lines of a manifest are not broken, its values not hidden
	comment(w, 0, fmt.Sprintf("FoundationDBCluster %s in namespace %s, inferred from what is left of it.", v.Metadata.Cluster, v.Metadata.Namespace))
	comment(w, 0, "Review it, and add what is unknown, before you apply it. Nothing was applied.")
	comment(w, 0, "Unknown:")
	for _, u := range v.Unknown {
		comment(w, 1, phrase.Or(u.Path, "other")+": "+u.Reason)
	}
	comment(w, 0, "Sources:")
	for _, k := range v.Known {
		comment(w, 1, k.Path+": "+k.Source)
	}
	if m := v.Match; m != nil {
		comment(w, 0, fmt.Sprintf("Equal to what a pass creates from this manifest: the spec of %s, of %s, and the configuration of the processes of %s.",
			phrase.CountOf(m.MatchingPods, m.Pods, "pod"), phrase.CountOf(m.MatchingClaims, m.Claims, "PVC"), phrase.CountOf(m.MatchingConfigured, m.Configured, "pod")))
	}
	text, err := ui.YAML(v.Resource)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// comment prints a text as lines of a comment.
func comment(w io.Writer, depth int, text string) {
	for _, line := range layout.Wrap(phrase.VisibleLine(text), width-2*depth, 2) {
		fmt.Fprintf(w, "# %*s%s\n", 2*depth, "", line)
	}
}
