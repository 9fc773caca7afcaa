//go:build !linux

package cas

import "errors"

func mount(string, string) error   { return errors.ErrUnsupported }
func remountReadOnly(string) error { return errors.ErrUnsupported }
func unmount(string) error         { return errors.ErrUnsupported }
