package tui

// Question is a request for the user's approval, for example of a pass before an action.
type Question struct {
	// Text is the question, in one sentence.
	Text string
	// Words are its details, one line each.
	Words []string
	// Confirm is the text to type for yes: y, or the name of the cluster if data can be lost.
	// Empty is y.
	Confirm string
	// Answer receives the user's answer, once. It may block: the dashboard does not wait for it.
	// If the dashboard ends without an answer, the sender of the question must end with it.
	Answer func(yes bool)
}
