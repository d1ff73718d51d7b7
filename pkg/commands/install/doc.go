// Package install holds the commands install, for the resource definitions and roles that the program comes
// with, and create, for a resource from a few settings.
package install
