package follow

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// notifying lists the file systems, on the machine's own disks, that give a notice of every new file. NFS, SMB, FUSE and similar systems give none for files
// that another machine made.
var notifying = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC, unix.EXFAT_SUPER_MAGIC, unix.REISERFS_SUPER_MAGIC, unix.NILFS_SUPER_MAGIC,
	0x2fc12fc1, // ZFS
	0x3153464a, // JFS
	0x7366746e, // NTFS in the kernel
	0xca451a4e, // bcachefs
}

// roundsAtOnce bounds the reads of one call, because files may appear faster than notices are read.
const roundsAtOnce = 64

// notices receives the system's notices of files created in a folder or moved there (inotify).
type notices struct {
	fd     int
	buffer []byte
}

// openNotices watches a folder. It returns nil if the system gives no notices for it, or incomplete ones.
func openNotices(folder string) *notices {
	var about unix.Statfs_t
	if err := unix.Statfs(folder, &about); err != nil || !slices.Contains(notifying, int64(uint32(about.Type))) {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil // the user reached the system's limit
	}
	const made, gone = unix.IN_CREATE | unix.IN_MOVED_TO, unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	if _, err := unix.InotifyAddWatch(fd, folder, made|gone|unix.IN_ONLYDIR); err != nil {
		unix.Close(fd)
		return nil
	}
	return &notices{fd: fd, buffer: make([]byte, 64<<10)}
}

// drain calls take with the name of each new file, which is valid until take returns. It calls lost if the system dropped notices. over is true if there will
// be no more notices, because the folder was deleted or moved.
func (n *notices) drain(take func(name []byte), lost func()) (over bool) {
	for range roundsAtOnce {
		got, err := unix.Read(n.fd, n.buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return over
		case err != nil || got <= 0:
			return true
		}
		for rest := n.buffer[:got]; len(rest) >= unix.SizeofInotifyEvent; {
			mask := binary.NativeEndian.Uint32(rest[4:])
			end := min(unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(rest[12:])), len(rest))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:end], []byte{0})
			rest = rest[end:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				lost()
			case mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED|unix.IN_UNMOUNT) != 0:
				over = true
			case mask&unix.IN_ISDIR == 0 && len(name) > 0:
				take(name)
			}
		}
	}
	lost() // a listing then finds the remaining files
	return over
}

func (n *notices) close() error { return unix.Close(n.fd) }
