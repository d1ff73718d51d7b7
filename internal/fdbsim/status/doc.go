// Package status makes the documents of `status` out of the model: JSON and text.
package status
