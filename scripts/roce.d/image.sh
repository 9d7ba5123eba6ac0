# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: the guest's file system, an initramfs. It is laid out
# as on the host, so that libraries are found where they are here.

# The shell is dash: busybox's takes its own ip for iproute2's.
guest_programs=(
	/usr/bin/busybox /usr/bin/dash /usr/bin/ip /usr/bin/ss /usr/bin/rdma
	/usr/bin/ibv_devinfo /usr/bin/ibv_rc_pingpong
	/usr/bin/ib_send_lat /usr/bin/ib_write_lat /usr/bin/ib_read_lat /usr/bin/ib_atomic_lat
	/usr/bin/ib_send_bw /usr/bin/ib_write_bw /usr/bin/ib_read_bw
)

# What libibverbs opens at run time.
rxe_driver=/etc/libibverbs.d/rxe.driver
rxe_library=/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so

# build_image FILE CMD ARGS... writes an initramfs that runs CMD.
build_image() {
	local image=$1 tree=$work/tree
	shift
	mkdir -p "$tree"/{etc/libibverbs.d,proc,sys,dev,tmp,root,run,w,roce/modules,usr/{bin,sbin,lib,lib64}}
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tree/"
	copy_in "$tree" "" "${guest_programs[@]}" /usr/lib/x86_64-linux-gnu/libibverbs.so.1
	copy_in "$tree" "" "$rxe_library" "$rxe_driver"
	cp "$cache"/kernel/modules/*.ko "$tree/roce/modules/"
	cp "$parts"/guest/* "$tree/usr/bin/"
	mv "$tree/usr/bin/init" "$tree/init"
	ln -s dash "$tree/usr/bin/sh"
	account_files "$tree"
	printf '%s\n' "${console_modules[@]}" >"$tree/roce/modules.console"
	printf '%s\n' "${rdma_modules[@]}" >"$tree/roce/modules.rdma"
	printf '%s\n' "${network_modules[@]}" >"$tree/roce/modules.network"
	user_files "$tree"
	echo "exec $(quote "$@")" >"$tree/roce/command"
	environment_file >"$tree/roce/environment"
	(cd "$tree" && find . -print0 | cpio --null --create --format=newc --owner=0:0 --quiet) >"$image"
	rm -rf "$tree"
}

# account_files writes what the C library asks for names.
account_files() {
	echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
	echo 'root:x:0:' >"$1/etc/group"
	echo 'hosts: files' >"$1/etc/nsswitch.conf"
	printf '%s\n' '127.0.0.1 localhost' '10.77.0.1 host0' '10.77.0.2 host1' >"$1/etc/hosts"
}

# user_files copies what --file names.
user_files() {
	local f from to
	for f in ${files[@]+"${files[@]}"}; do
		from=${f%%:*} to=/w/
		[ "$from" = "$f" ] || to=${f#*:}
		[ -e "$from" ] || bad_usage "--file $from: no such file"
		copy_in "$1" "$to" "$from"
	done
}

# copy_in TREE TO PATHS... copies files or folders, and the libraries of
# programs. TO is a path in the guest, a folder if it ends in /; empty: the
# path is the same there. A folder joins one that is there.
copy_in() {
	local tree=$1 to=$2 path target
	shift 2
	for path; do
		target=$tree${to:-$path}
		[[ $target == */ ]] && target+=$(basename "$path")
		mkdir -p "$(dirname "$target")"
		cp -rLT "$path" "$target"
		if [ -d "$path" ]; then
			while IFS= read -r -d '' f; do libraries "$tree" "$f"; done < <(find "$path" -type f -perm -u+x -print0)
		else
			libraries "$tree" "$path"
		fi
	done
}

is_elf() { [ -s "$1" ] && [ "$(head -c 4 "$1" | tr -d '\0')" = $'\x7fELF' ]; }

# libraries copies the shared libraries of an ELF file, if it is one.
libraries() {
	local tree=$1 lib
	is_elf "$2" || return 0
	while read -r lib; do
		[ -e "$tree$lib" ] && continue
		mkdir -p "$(dirname "$tree$lib")"
		cp -L "$lib" "$tree$lib"
	done < <(ldd "$2" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3} $1 ~ /^\// {print $1}')
}

# quote prints its arguments so that a shell reads them back.
quote() {
	local a
	for a; do printf "'%s' " "${a//\'/\'\\\'\'}"; done
	echo
}

environment_file() {
	local e
	echo 'export WEFT_ROCE=1'
	[ -z "${WEFT_CI:-}" ] || echo "export WEFT_CI=$WEFT_CI"
	for e in ${environment[@]+"${environment[@]}"}; do
		[[ $e =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || bad_usage "--env $e is not NAME=VALUE"
		echo "export ${e%%=*}=$(quote "${e#*=}")"
	done
}
