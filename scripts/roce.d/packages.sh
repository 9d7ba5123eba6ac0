# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: what comes from Debian.

# packages are installed: three for the host; the rest is copied into
# the guest, but for the headers that fabric/verbs is built with.
packages=(
	qemu-system-x86 cpio xz-utils
	busybox-static iproute2
	libibverbs1 ibverbs-providers librdmacm1 ibverbs-utils perftest
	libibverbs-dev gcc libc6-dev
)

# The guest's modules, in the order in which they are loaded.
console_modules=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_console)
rdma_modules=(
	crc32_generic crc32-pclmul configfs udp_tunnel ip6_udp_tunnel
	ib_core ib_uverbs ib_cm iw_cm rdma_cm rdma_ucm rdma_rxe dummy
)
network_modules=(failover net_failover virtio_net)
modules=("${console_modules[@]}" "${rdma_modules[@]}" "${network_modules[@]}")

# setup brings everything that is not there yet.
setup() {
	[ "$(uname -m)" = x86_64 ] || unavailable "the guest is for x86_64, this is $(uname -m)"
	mkdir -p "$cache"
	install_packages
	[ -f "$cache/kernel/complete" ] && [ "$(<"$cache/kernel/complete")" = "${modules[*]}" ] && return
	exec {lock}>"$cache/lock"
	flock "$lock"
	download_kernel
	unpack_kernel
	exec {lock}>&-
}

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

install_packages() {
	local p missing=()
	command -v dpkg-query >/dev/null || unavailable "this is not Debian"
	for p in "${packages[@]}"; do is_installed "$p" || missing+=("$p"); done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" -eq 0 ] || unavailable "not installed: ${missing[*]} (run scripts/setup as root)"
	say "installing ${missing[*]}"
	apt_update
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		-o DPkg::Lock::Timeout=120 "${missing[@]}" </dev/null >"$cache/apt.log" 2>&1 || apt_failed install "${missing[@]}"
}

apt_update() {
	[ "$(id -u)" -eq 0 ] || return 0
	apt-get update -qq -o DPkg::Lock::Timeout=120 >"$cache/apt.log" 2>&1 || apt_failed update
}

apt_failed() {
	tail -n 5 "$cache/apt.log" | sed 's/^/  | /' >&2
	unavailable "this failed: apt-get $*"
}

# kernel_package names the package that linux-image-amd64 stands for today.
kernel_package() { apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/ {print $2; exit}'; }

# download_kernel leaves one kernel package in $cache/deb.
download_kernel() {
	compgen -G "$cache/deb/*.deb" >/dev/null && return
	local package part=$cache/deb.part
	apt_update
	package=$(kernel_package)
	[ -n "$package" ] || unavailable "apt knows no kernel package for linux-image-amd64"
	say "downloading $package"
	rm -rf "$part"
	mkdir -p "$part"
	(cd "$part" && apt-get download -qq "$package") >"$cache/apt.log" 2>&1 || apt_failed download "$package"
	rm -rf "$cache/deb"
	mv "$part" "$cache/deb"
}

# unpack_kernel leaves the kernel and its modules in $cache/kernel.
unpack_kernel() {
	local m patterns=('./boot/vmlinuz-*') part=$cache/kernel.part
	for m in "${modules[@]}"; do patterns+=("*/$m.ko"); done
	say "unpacking the kernel"
	rm -rf "$cache/kernel" "$part"
	mkdir -p "$part/all" "$part/modules"
	dpkg-deb --fsys-tarfile "$cache"/deb/*.deb | tar -x -C "$part/all" --wildcards "${patterns[@]}"
	uncompress_kernel "$part"/all/boot/vmlinuz-* "$part/kernel"
	for m in "${modules[@]}"; do find "$part/all" -name "$m.ko" -exec mv {} "$part/modules/" \;; done
	rm -r "$part/all"
	echo "${modules[*]}" >"$part/complete"
	mv "$part" "$cache/kernel"
}

# uncompress_kernel takes the ELF file out of a vmlinuz: qemu starts that one
# too, and under emulation it takes seconds less than to uncompress it there.
# Where it is not compressed with xz the vmlinuz is kept.
uncompress_kernel() {
	local from=$1 to=$2 offset
	offset=$(LC_ALL=C grep -abo -m 1 $'\xfd7zXZ' "$from" | head -n 1 | cut -d : -f 1) || true
	# xz complains of what comes behind the kernel.
	[ -z "$offset" ] || tail -c "+$((offset + 1))" "$from" | xz -dc >"$to" 2>/dev/null || true
	is_elf "$to" || cp "$from" "$to"
}
