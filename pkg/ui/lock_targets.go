package ui

import "slices"

// ShutOut is an instance that is to be on the deny list in the database, or not, as far as
// that is so.
func ShutOut(f Facts, instance string, deny bool) Target {
	t := Target{ID: instance, Phase: "unknown", Note: "the deny list in the database could not be read"}
	if !f.Coordination.Read {
		return t
	}
	denied := slices.Contains(f.Coordination.DenyList, instance)
	t.Phase, t.Note, t.Reached = "allowed", "", denied == deny
	if denied {
		t.Phase = "denied"
	}
	return t
}
