// Package check looks at the facts of a cluster with a list of rules and says what each
// of them found, or why it could not look. It is pure: facts in, a report out; nothing
// is ever repaired from here.
package check
