package system

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// OpenShared opens a file as os.OpenFile does, and lets others read, write, rename and remove it meanwhile. Of the flags it knows those of access,
// os.O_CREATE and os.O_EXCL. What is made has the permissions of its folder.
func OpenShared(path string, flag int, _ fs.FileMode) (*os.File, error) {
	return open(path, flag, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_BACKUP_SEMANTICS) // the latter opens folders, too
}

// OpenOwn opens to read and write what is no link.
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

// held is the byte that who holds a file has locked, behind the end of any: a locked byte could be read by nobody else.
var held = windows.Overlapped{Offset: 0xffff_fffe, OffsetHigh: 0x7fff_ffff}

// Hold takes f for this process: ErrHeld where another has it and wait is false, another error where the file system knows no locks.
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

// Unsynced says that a folder cannot be synced: on Windows none can that is open to read.
func Unsynced(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}
