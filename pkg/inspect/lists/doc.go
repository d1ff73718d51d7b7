// Package lists holds the documents of single commands that no other document contains.
package lists
