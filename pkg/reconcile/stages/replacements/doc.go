// Package replacements holds the stages that mark process groups for removal: those whose pods
// differ from the spec, failed, are on tainted nodes, or exceed the desired count.
package replacements
