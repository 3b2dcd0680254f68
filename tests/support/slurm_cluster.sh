#!/usr/bin/env bash
# A Slurm of one node on loopback, for a test: slurm_cluster.sh start DIR | stop DIR
# Prints why it cannot start and ends with 77 then. Everything lives in DIR; SLURM_CONF=DIR/slurm.conf talks
# to it.
set -uo pipefail

cannot() { echo "$1"; exit 77; }

start() {
  local dir="$1" host port
  [[ $EUID -eq 0 ]] || cannot "only root starts slurmd"
  for program in munged mungekey slurmctld slurmd sbatch sinfo; do
    command -v "$program" > /dev/null || cannot "$program is not installed (packages slurm-wlm, munge)"
  done
  id munge > /dev/null 2>&1 || cannot "there is no user munge"
  host="$(hostname -s)"
  # Ports of its own, from its process id, so that two tests do not meet.
  port=$((20000 + $$ % 20000))
  mkdir -p "$dir/munge" "$dir/state" "$dir/spool"
  # munged wants the folders above its socket to be nobody else's to write.
  chmod 755 "$dir"
  mungekey --create --keyfile="$dir/munge/key" || cannot "no munge key can be made"
  chown -R munge: "$dir/munge"
  chmod 755 "$dir/munge"
  runuser -u munge -- munged --force --foreground --socket="$dir/munge/socket" --key-file="$dir/munge/key" \
    --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" \
    > "$dir/munged.out" 2>&1 &
  echo $! > "$dir/munged.pid"
  cat > "$dir/slurm.conf" << END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
ReturnToService=2
SlurmctldPidFile=$dir/slurmctld.pidfile
SlurmdPidFile=$dir/slurmd.pidfile
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SchedulerParameters=sched_interval=2,batch_sched_delay=0
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=10 State=UP
END
  export SLURM_CONF="$dir/slurm.conf"
  for _ in $(seq 50); do [[ -S "$dir/munge/socket" ]] && break; sleep 0.1; done
  [[ -S "$dir/munge/socket" ]] ||
    cannot "munged does not start: $(cat "$dir/munged.out" "$dir/munge/log" 2> /dev/null | tail -n 3)"
  slurmctld -D > "$dir/slurmctld.out" 2>&1 &
  echo $! > "$dir/slurmctld.pid"
  slurmd -D -N "$host" > "$dir/slurmd.out" 2>&1 &
  echo $! > "$dir/slurmd.pid"
  for _ in $(seq 100); do
    [[ "$(sinfo -h -o %T 2> /dev/null)" == idle ]] && exit 0
    sleep 0.2
  done
  cannot "its node does not become idle: $(tail -n 3 "$dir/slurmctld.out" "$dir/slurmd.out")"
}

stop() {
  local name pid
  for name in slurmd slurmctld munged; do
    [[ -f "$1/$name.pid" ]] || continue
    pid="$(< "$1/$name.pid")"
    kill "$pid" 2> /dev/null
    for _ in $(seq 30); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2> /dev/null
  done
  return 0
}

"$1" "$2"
