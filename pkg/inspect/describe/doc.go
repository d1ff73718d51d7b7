// Package describe holds the documents of kubectl fdb describe and tree.
package describe
