# shellcheck shell=bash disable=SC2154
# Part of scripts/roce: the virtual machines and what comes back from them.
#
# A guest has a serial console, where its kernel talks, and three
# virtio-serial ports, which qemu writes to files: out and err, the output of
# the command, and status, lines of init (see guest/init). qemu ends when the
# status says so, never the guest by itself.

readonly grace=30

# An emulated kernel now and then stops before it has said a word. A guest whose
# init has not begun after this many seconds, dozens of times what that takes, is
# started again, and again; a third silence is a failure.
readonly silence=180 starts=3
readonly silent=123 # what watch_guests returns then

# guest CMD ARGS... boots, runs CMD and returns its exit code.
guest() {
	local h code start started=$SECONDS
	work_folder
	build_image "$work/initramfs" "$@"
	for ((start = 1; start <= starts; start++)); do
		code=0
		start_guests
		watch_guests $((started + timeout)) || code=$?
		stop_machines
		[ "$code" -eq "$silent" ] || break
		complain "no sign of life after $silence s, start $start of $starts"
		code=$guest_broken
	done
	for ((h = 0; h < hosts; h++)); do [ -z "$console" ] || show_console "$h" all; done
	[ "$code" -ne 0 ] || report $((SECONDS - started)) || code=$?
	return "$code"
}

# start_guests boots every host, each in an empty folder.
start_guests() {
	local h
	say "starting QEMU"
	machines=() streams=()
	for ((h = 0; h < hosts; h++)); do rm -rf "$work/host$h"; done
	rm -f "$work/wire"
	for ((h = 0; h < hosts; h++)); do
		boot "$h"
		stream "$h"
	done
}

# work_folder makes the folder $work, which goes when the script ends, with
# the machines. Those of scripts that were killed go after a day.
work_folder() {
	[ -z "${work:-}" ] || return 0
	find "$cache" -maxdepth 1 -name 'run.*' -mtime +0 -exec rm -rf {} +
	work=$(mktemp -d "$cache/run.XXXXXX")
	trap clean_up EXIT
	trap 'complain interrupted; exit 130' INT
	trap 'complain terminated; exit 143' TERM HUP
}

# boot starts the machine of a host.
boot() {
	local h=$1 dir=$work/host$1
	mkdir "$dir"
	: >"$dir/out"
	: >"$dir/err"
	: >"$dir/status"
	: >"$dir/console"
	# no_timer_check: the kernel's test of its timer fails, and the kernel with it,
	# where the emulator gets no processor for a moment.
	local line="console=ttyS0 quiet panic=-1 oops=panic tsc=reliable no_timer_check roce.host=$h roce.hosts=$hosts"
	# shellcheck disable=SC2054
	local q=(
		qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp "$cpus" -m "$memory"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$cache/kernel/kernel" -initrd "$work/initramfs" -append "$line"
		-chardev "file,id=console,path=$dir/console" -serial chardev:console
		-device virtio-serial-pci
	)
	local port nr=0
	for port in out err status; do
		q+=(-chardev "file,id=$port,path=$dir/$port")
		q+=(-device "virtserialport,nr=$((++nr)),chardev=$port,name=$port")
	done
	[ "$hosts" -eq 1 ] || { network_options "$h" && q+=("${net[@]}"); }
	# The machine goes even if this script is killed outright.
	setpriv --pdeathsig KILL "${q[@]}" </dev/null >"$dir/qemu" 2>&1 &
	machines+=($!)
}

# network_options joins two machines by a socket; host0 listens.
network_options() {
	local server=off wire=$work/wire i
	[ "$1" -ne 0 ] || server=on
	for ((i = 0; $1 > 0 && i < 1200; i++)); do
		[ ! -S "$wire" ] || break
		sleep 0.05
	done
	# shellcheck disable=SC2054
	net=(
		-netdev "stream,id=wire,server=$server,addr.type=unix,addr.path=$wire"
		-device "virtio-net-pci,netdev=wire,mac=52:54:00:77:00:0$(($1 + 1)),romfile="
	)
}

# stream copies a host's output to ours while its machine runs and once more
# when it has ended. Where there are two, lines begin with the host's name.
stream() {
	local dir=$work/host$1 pid=${machines[$1]} t=(tail -q -n +1 -f -s 0.1)
	if [ "$hosts" -eq 1 ]; then
		"${t[@]}" --pid="$pid" "$dir/out" &
		streams+=($!)
		"${t[@]}" --pid="$pid" "$dir/err" >&2 &
	else
		{ "${t[@]}" --pid="$pid" "$dir/out" | sed -u "s/^/host$1: /"; } &
		streams+=($!)
		{ "${t[@]}" --pid="$pid" "$dir/err" | sed -u "s/^/host$1: /" >&2; } &
	fi
	streams+=($!)
}

# watch_guests waits until second $1 for the end of the command on every host:
# 0, or what is wrong. Where it failed on one, the other has $grace s left. It
# starts no process but sleep, for the sake of what is measured in the guest.
watch_guests() {
	local h ended up lines began=$SECONDS said='' until=$1 failed=''
	while :; do
		ended=0 up=0
		for ((h = 0; h < hosts; h++)); do
			mapfile -t lines <"$work/host$h/status"
			case ${lines[*]: -1} in
			'exit '*)
				((++ended))
				if [ "${lines[*]: -1}" != 'exit 0' ] && [ $((SECONDS + grace)) -lt "$until" ]; then
					until=$((SECONDS + grace)) failed=1
				fi
				;;
			'step the command') ((++up)) ;;
			'failed '*)
				broken "$h"
				return "$guest_broken"
				;;
			esac
		done
		[ "$ended" -lt "$hosts" ] || return 0
		for ((h = 0; h < hosts; h++)); do
			kill -0 "${machines[$h]}" 2>/dev/null && continue
			broken "$h"
			return "$guest_broken"
		done
		if [ -z "$said" ] && [ $((up + ended)) -eq "$hosts" ]; then
			said=1
			say "up after $((SECONDS - began)) s"
		fi
		for ((h = 0; h < hosts; h++)); do
			[ $((SECONDS - began)) -ge "$silence" ] || break
			[ -s "$work/host$h/status" ] || return "$silent"
		done
		if [ "$SECONDS" -ge "$until" ]; then
			too_late "$failed"
			return "$deadline_passed"
		fi
		sleep 0.1
	done
}

# too_late says where the guests are when the time is over; $1 is set where one
# has failed.
too_late() {
	local h
	if [ -n "$1" ]; then
		complain "the time is over: one host failed, the other was not done $grace s later"
	else
		complain "the time is over: not done after $timeout s (--timeout)"
	fi
	for ((h = 0; h < hosts; h++)); do
		complain "host$h is at: $(tail -n 1 "$work/host$h/status" | grep . || echo 'no sign of life')"
		show_console "$h"
	done
}

# broken says why a guest did not come to run its command, or stopped doing so.
broken() {
	local dir=$work/host$1 why="its machine ended by itself"
	if grep -q 'Kernel panic' "$dir/console"; then
		why="its kernel panicked"
	elif grep -q '^failed ' "$dir/status"; then
		why=$(sed -n 's/^failed //p' "$dir/status")
	elif grep -q '^roce: ' "$dir/console"; then
		why=$(sed -n 's/^roce: //p' "$dir/console" | tr -d '\r' | tail -n 1)
	fi
	complain "the guest host$1 failed: $why"
	[ ! -s "$dir/qemu" ] || sed 's/^/qemu: /' "$dir/qemu" >&2
	show_console "$1"
}

# show_console prints the end of a guest's kernel log, or all of it.
show_console() {
	local n=30
	[ "${2:-}" != all ] || n=+1
	complain "the console of host$1:"
	tail -n "$n" "$work/host$1/console" | tr -d '\r' | sed 's/^/  | /' >&2
}

# report says how the command ended and returns its exit code.
report() {
	local h code first=0
	for ((h = 0; h < hosts; h++)); do
		code=$(sed -n 's/^exit //p' "$work/host$h/status" | head -n 1)
		[ "$hosts" -eq 1 ] || say "host$h: exit code $code"
		[ "$first" -ne 0 ] || first=$code
	done
	say "exit code $first after $1 s"
	return "$first"
}

stop_machines() {
	local m
	for m in ${machines[@]+"${machines[@]}"}; do kill "$m" 2>/dev/null || true; done
	for m in ${machines[@]+"${machines[@]}"}; do reap "$m"; done
	for m in ${streams[@]+"${streams[@]}"}; do wait "$m" 2>/dev/null || true; done
	machines=() streams=()
}

# reap waits for a machine that was told to stop, and insists after 5 s.
reap() {
	local i
	for ((i = 0; i < 50; i++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

clean_up() {
	stop_machines
	rm -rf "$work"
}
