package system

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// OpenShared opens a file like os.OpenFile, and lets other processes read, write, rename and remove it meanwhile. It supports the access flags, os.O_CREATE and
// os.O_EXCL. A new file gets the permissions of its folder.
func OpenShared(path string, flag int, _ fs.FileMode) (*os.File, error) {
	return open(path, flag, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS) // the latter also opens folders
}

// OpenOwn opens a file for reading and writing. It refuses a link.
func OpenOwn(path string) (*os.File, error) {
	return open(path, os.O_RDWR, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT)
}

func open(path string, flag int, attributes uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, how := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	switch flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	}
	switch flag & (os.O_CREATE | os.O_EXCL) {
	case os.O_CREATE | os.O_EXCL:
		how = windows.CREATE_NEW
	case os.O_CREATE:
		how = windows.OPEN_ALWAYS
	}
	const others = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, access, others, nil, how, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// held is the offset of the locked byte of a held file. It lies after the end of any file, because no other process can read a locked byte.
var held = windows.Overlapped{Offset: 0xffff_fffe, OffsetHigh: 0x7fff_ffff}

// Hold locks f for this process. It returns ErrHeld if another process holds f and wait is false, or another error if the file system has no locks.
func Hold(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := held
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	return err
}

// Unsynced reports that a folder cannot be synced. On Windows a folder opened for reading never can.
func Unsynced(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}
