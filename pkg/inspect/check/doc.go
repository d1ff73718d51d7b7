// Package check evaluates rules on the facts of a cluster and reports what each of them
// found, or why it could not be evaluated. It is pure: facts in, a report out; it never
// repairs anything.
package check
