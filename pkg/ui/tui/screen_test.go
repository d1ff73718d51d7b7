package tui

import "testing"

func TestPeek(t *testing.T) {
	for i := 1; i <= 8; i++ {
		m := shown(t, 80, 24, Options{}, append([]Entry{entry(lost())}, running()...)...)
		t.Logf("\n%s", pressed(m, string(rune('0'+i))).View())
	}
	m := shown(t, 100, 30, Options{}, append([]Entry{entry(lost())}, running()...)...)
	t.Logf("\n%s", pressed(m, "enter").View())
	t.Logf("\n%s", pressed(m, "w").View())
	t.Logf("\n%s", pressed(m, "?").View())
}
