package cells

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSqueezedCommandTablesKeepTheirColumns(t *testing.T) {
	words := []string{
		"they stay where they are, which is a text that is long enough to be broken somewhere",
		"NODE     GROUP        CLASS       COORD   DATA   FITS",
		"node-1   log-85262    log         yes     ?      yes",
		"node-1   例え-54209   stateless   -       ?      例え",
	}
	tests := map[string]struct {
		width int
		want  []string
	}{
		"there is room": {60, words[1:]},
		"there is less": {48, []string{
			"NODE    GROUP       CLASS      COORD  DATA  FITS",
			"node-1  log-85262   log        yes    ?     yes",
			"node-1  例え-54209  stateless  -      ?     例え",
		}},
		"there is hardly any": {43, []string{
			"NODE   GROUP      CLASS     COORD DATA FITS",
			"node-1 log-85262  log       yes   ?    yes",
			"node-1 例え-54209 stateless -     ?    例え",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Squeezed(words, tc.width)
			if diff := cmp.Diff(append(words[:1:1], tc.want...), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
