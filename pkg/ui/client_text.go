package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteClients prints a row per client.
func WriteClients(w io.Writer, v lists.ClientListView, o ListOptions) error {
	t := o.table([]layout.Column{
		{Name: "ADDRESS"},
		{Name: "POD/OWNER", Min: 16},
		{Name: "VERSION"},
		{Name: "PROTOCOL", Drop: 2},
		{Name: "LOG-GROUP", Drop: 1, Min: 10},
		{Name: "BLOCKS"},
	})
	for _, c := range v.Items {
		t.Rows = append(t.Rows, []string{clientAddress(c), clientOwner(c), c.Version, c.Protocol, phrase.Or(c.LogGroup, phrase.Nothing), clientBlocks(c, v.Target)})
	}
	return t.Write(w)
}

func clientAddress(v lists.ClientView) string {
	if v.Unnamed > 0 {
		return fmt.Sprintf("(%d-not-named)", v.Unnamed)
	}
	return v.Address
}

func clientOwner(v lists.ClientView) string {
	var words []string
	switch {
	case v.Pod != "" && v.Owner != "":
		words = append(words, v.Pod+"("+v.Owner+")")
	case v.Pod != "":
		words = append(words, v.Pod)
	}
	if v.BesideProcess {
		words = append(words, "beside-fdbserver")
	}
	if len(words) == 0 {
		return phrase.UnknownCell
	}
	return strings.Join(words, ",")
}

func clientBlocks(v lists.ClientView, target string) string {
	switch {
	case target == "":
		return phrase.Nothing
	case v.Blocks != nil && !*v.Blocks && v.BesideProcess:
		return "no(fdbserver)"
	case v.Blocks != nil && !*v.Blocks && v.Ignored:
		return "no(ignored)"
	default:
		return phrase.YesNo(v.Blocks, phrase.UnknownCell)
	}
}
