package inspect

import (
	"strings"
)

// Key identifies a hold: its code, and what it is about.
func (h HoldRecord) Key() string { return string(h.Code) + " " + strings.Join(h.Subjects, ",") }
