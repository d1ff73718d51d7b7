// Package cmdutil holds what the commands of several nouns share: selections of process groups, polling, and the
// permissions that each command requires.
package cmdutil
