// Package proposal finds out what a resource would be after a change that nothing has stored yet: a manifest in a file, or
// edits of single fields. The API server reports it in a dry run; a client over the change has commands read the resource as
// it would be.
package proposal
