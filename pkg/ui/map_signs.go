package ui

import (
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// sign is a symbol of the map.
type sign struct {
	// mark is the symbol, and ascii the one where the locale has no UTF-8.
	mark, ascii string
	meaning     string
}

// The signs of process groups, in the order of the legend.
var (
	signUp          = &sign{"●", "o", "up"}
	signCoordinator = &sign{"◆", "@", "up, coordinator"}
	signUnreachable = &sign{"◇", "%", "up, coordinator not reachable"}
	signCondition   = &sign{list.MarkWarn, "!", "up, with a condition"}
	signNew         = &sign{"○", "+", "new"}
	signDraining    = &sign{"◐", "~", "draining"}
	signDown        = &sign{list.MarkBad, "x", "down"}
	signUnknown     = &sign{phrase.UnknownCell, "?", "unknown"}
	signs           = []*sign{signUp, signCoordinator, signUnreachable, signCondition, signNew, signDraining, signDown, signUnknown}
)

// signOf returns the one sign of a process group.
func signOf(g inspect.GroupRow) *sign {
	switch g.State() {
	case inspect.GroupUp:
		return signOfUp(g)
	case inspect.GroupDraining:
		return signDraining
	case inspect.GroupDown:
		return signDown
	case inspect.GroupNew:
		return signNew
	case inspect.GroupUnknown:
	}
	return signUnknown
}

// signOfUp returns the sign of a process group that is up. Its conditions, which only colors would show else, hide that
// it is a coordinator.
func signOfUp(g inspect.GroupRow) *sign {
	switch {
	case !ptr.Deref(g.CoordinatorReachable, true):
		return signUnreachable
	case g.Tone >= list.Warn:
		return signCondition
	case g.Tone == list.Unsure:
		return signUnknown
	case ptr.Deref(g.Coordinator, false):
		return signCoordinator
	default:
		return signUp
	}
}

// in returns the symbol.
func (s *sign) in(p Paint) string {
	if p.ASCII {
		return s.ascii
	}
	return s.mark
}

// fill returns how full a disk is, in a cell: an eighth per step, or the first digit of the percentage.
func (p Paint) fill(used float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if p.ASCII {
		bars = []rune("0123456789")
	}
	return string(bars[min(len(bars)-1, max(0, int(used*float64(len(bars)))))])
}
