package apply

// Values of --wait. A plain --wait means WaitDone.
const (
	WaitNone = "none"
	WaitDone = "done"
	WaitAll  = "all"
)

// waitFlag returns --wait to repeat the command; empty if it does not wait.
func (f ChangeFlags) waitFlag() string {
	switch {
	case !f.Wait:
		return ""
	case f.WaitAll:
		return "--wait=" + WaitAll
	default:
		return "--wait"
	}
}
