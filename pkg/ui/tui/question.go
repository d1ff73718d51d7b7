package tui

// Question is something that somebody has to allow before it goes on, as a pass that
// asks before an action does.
type Question struct {
	// Text is what is asked, in one sentence.
	Text string
	// Words say what it is about, one line each.
	Words []string
	// Confirm is what has to be typed to say yes: y, or the name of the cluster when data
	// can be lost. Empty is y.
	Confirm string
	// Answer is told what the person said, once. It may block: the screen does not wait
	// for it. Without an answer the screen ends; who asks has to end with it.
	Answer func(yes bool)
}
