"""Log lines of systems made up for the purpose, each marked with the template it was written from.

No rule was written on them: they are in the manner of mail hosts, schedulers, stores, proxies, databases and
orchestrators, with values of which many are plain words (users, services, queues), drawn by Zipf's law.
"""

from __future__ import annotations

import random
import re

import polars as pl

_NAMES = ("web", "db", "mail-relay-", "cache", "node")
_DOMAINS = ("lan", "corp.example.com", "internal")
_VALUES: dict[str, tuple[str, ...]] = {
    "user": (
        *("root", "alice", "deploy", "nobody", "postgres", "backup", "www-data"),
        *("carol", "svc_build", "git", "mallory", "oracle", "news", "bob", "erin"),
    ),
    "host": (
        *(f"{name}{number}.{domain}" for name in _NAMES for number in range(1, 6) for domain in _DOMAINS),
        *("gateway", "bastion", "printer", "localhost", "fileserver", "atlas", "hermes"),
    ),
    "far": ("adsl-dyn.isp.example", "dsl.bb.example.net", "host.invalid", "ppp.telecom.example", "unknown"),
    "service": (
        *("sshd", "crond", "nginx", "httpd", "postfix", "dbus", "cups"),
        *("ntpd", "snmpd", "named", "xinetd", "smartd", "auditd", "portmap"),
    ),
    "path": (
        *("/", "/var", "/var/log/messages", "/etc/passwd", "/home/alice/.bashrc", "/usr/lib/libssl.so.3"),
        *("/data/part-0001", "/scratch/x", "/mnt/scratch", "/opt/app/current/bin"),
    ),
    "module": (
        *("ext3", "usbcore", "libata", "e1000", "bonding"),
        *("iptable_nat", "nfsd", "sunrpc", "raid5", "dm_mod"),
    ),
    "device": ("sda", "sdb", "hda", "eth0", "eth1", "lo", "ppp0", "md0", "sdc1", "ib0"),
    "state": ("RUNNING", "PENDING", "FAILED", "COMPLETED", "CANCELLED", "TIMEOUT"),
    "class": ("org.acme.net.Server", "org.acme.store.BlockManager", "com.widget.Cache", "org.acme.task.Executor"),
    "queue": ("default", "batch", "gpu", "high", "debug", "interactive"),
    "topic": ("orders", "payments", "clicks", "users-v2", "audit", "inventory", "mail.out"),
    "table": ("users", "orders", "invoice_items", "sessions", "audit_log", "products", "payments"),
    "mount": ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"),
    "day": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "down": ("heartbeat lost", "disk full", "kernel panic"),
    "way": ("HTTPS", "SOCKS5", "HTTP"),
    "layer": ("Layer4 timeout", "Layer7 wrong status", "Layer4 connection problem"),
    "tls": ("unknown ca", "bad certificate", "no shared cipher"),
    "unit": ("Daily cleanup", "Login Service", "Network Manager", "Permit User Sessions", "Command Scheduler"),
    "tag": ("latest", "stable", "v1.2", "edge"),
}
_SYSTEMS = {
    "hosts": """
session opened for user {user} by (uid={digit})
session closed for user {user}
authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={ip}
authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={host} user={user}
check pass; user unknown
connection from {ip} ({far}) at {day} Jul {digit} 1{digit}:12:5{digit} 2005
({user}) CMD ({path} >/dev/null 2>&1)
({user}) CMD (run-parts /etc/cron.hourly)
{service} startup succeeded
{service} shutdown succeeded
{service} startup failed
{service}: reloading configuration
Unable to connect to {host} port {n}
DHCPREQUEST for {ip} from {mac} via {device}
DHCPACK on {ip} to {mac} via {device}
DHCPDISCOVER from {mac} via {device}: network {ip}/24: no free leases
synchronized to {ip}, stratum {digit}
kernel: {device}: link up, {n}Mbps
kernel: {device}: link down
Mount of {mount} on {path} failed: permission denied
Out of memory: Killed process {n} ({service})
ALERT exited abnormally with [{digit}]
klogd 1.4.{digit}, log source = {path} started.
cannot open {path} for reading: no such file
user {user} not in sudoers
password changed for {user}
Registering netfilter hooks
Registered protocol family {n}
module {module} unloaded
module {module} loaded
Linking {service} to {module}""",
    "scheduler": """
job {n}.{host} queued in {queue} by {user}
job {n}.{host} moved to state {state}
node {host} went down: {down}
node {host} is up again after {n} s
allocated {n} cpus on {host} to {user}
user {user} over quota on {mount}
purging old jobs
purging old nodes
reservation {mount} starts
reservation {mount} ends
license {mount} denied to {user} ({digit} in use)
power off request sent to {host}
power on request sent to {host}
sched: Allocate JobId={n} NodeList=cn[{digit}-{n}] #CPUs={digit}
backfill: completed testing {n}({digit}) jobs, usec={n}
error: receive_msg: Zero Bytes were transmitted or received
error: Node {host} has low real_memory size ({n} < {n})
epilog for {user} complete on {host}
prolog for {user} running on {host}
generating core.{n}
{n} floating point alignment exceptions
{digit} ddr errors(s) detected and corrected on rank {digit}, symbol {n}, bit {digit}
total of {digit} ddr error(s) detected and corrected
cache parity error corrected
instruction cache parity error corrected
data TLB error interrupt
data storage interrupt
program interrupt: illegal instruction
program interrupt: trap instruction
r{n}=0x{hex} r{n}=0x{hex} r{n}=0x{hex}
iar {hex} dear {hex}
Lustre mount FAILED : {host} : block_id : location""",
    "store": """
Received block blk_{long} of size {n} from /{ip}
Served block blk_{long} to /{ip}
Got exception while serving blk_{long} to /{ip}:
PacketResponder {digit} for block blk_{long} terminating
Verification succeeded for blk_{long}
BLOCK* ask {ip}:{n} to delete blk_{long} blk_{long}
BLOCK* ask {ip}:{n} to delete blk_{long}
Registered signal handlers for [TERM, HUP, INT]
Changing view acls to: {user},{user}
Successfully started service '{module}' on port {n}.
Started reading broadcast variable {n}
Reading broadcast variable {n} took {n} ms
Block broadcast_{n} stored as values in memory (estimated size {n}.{digit} KB, free {n}.{digit} KB)
Block broadcast_{n}_piece0 stored as bytes in memory (estimated size {n} B, free {n}.{digit} MB)
Running task {n}.0 in stage {n}.0 (TID {n})
Finished task {n}.0 in stage {n}.0 (TID {n}). {n} bytes result sent to driver
Input split: hdfs://{host}:9000/logs/{topic}:{n}+{n}
Registering BlockManager
Registered BlockManager
{class} starting
{class} initialised with capacity {n} MB
Saved output of task 'attempt_{n}_m_{n}_0' to hdfs://{host}/out
Partition rdd_{n}_{n} not found, computing it
Found block rdd_{n}_{n} locally
Removed {topic} from {host} in memory (size: {n})
Exception in receiveBlock for block blk_{long} java.io.IOException: Connection reset by peer
Exception in receiveBlock for block blk_{long} java.io.EOFException""",
    "proxy": """
{host}:{n} open through proxy {host}:{n} {way}
{host}:{n} close, {n} bytes sent, {n} bytes received, lifetime {digit}1:{digit}3
{host}:{n} close, {n} bytes sent, {n} bytes received, lifetime <1 sec
{host}:{n} error : Could not connect through proxy {host}:{n} - Proxy closed the connection unexpectedly.
{host}:{n} error : A connection request was canceled before the completion.
backend {mount} has no server available
server {mount}/{host} is DOWN, reason: {layer}, check duration: {n}ms
server {mount}/{host} is UP, reason: Layer7 check passed, check duration: {n}ms
[client {ip}] File does not exist: {path}
[client {ip}] Directory index forbidden by rule: {path}
worker {n} exited on signal {digit}
upstream timed out while connecting to {host}
upstream prematurely closed connection from {host}
no live upstreams for {mount}
SSL handshake failed with {ip}: {tls}
cache {mount} loaded
cache {mount} evicted {n} items""",
    "database": """
duplicate key value violates unique constraint "{table}_pkey"
relation "{table}" does not exist at character {n}
checkpoint starting: {queue}
checkpoint complete: wrote {n} buffers ({digit}.{digit}%)
automatic vacuum of table "app.public.{table}": index scans: {digit}
automatic analyze of table "app.public.{table}" system usage: CPU {n}s
connection authorized: user={user} database={table}
connection received: host={host} port={n}
disconnection: session time: 0:1{digit}:2{digit} user={user} database={table} host={host}
could not receive data from client: Connection reset by peer
could not send data to client: Broken pipe
terminating connection due to administrator command
canceling statement due to user request
canceling statement due to statement timeout
deadlock detected
process {n} waits for ShareLock on transaction {n}; blocked by process {n}
role {user} is not permitted to log in
database {table} is being accessed by other users
out of shared memory
topic {topic} partition {digit} leader is {digit}
consumer group {topic} rebalanced: {digit} members
consumer group {topic} is empty
column {table} of {table} is never null
slow query on {table} took {n} ms
truncating {table}
vacuuming {table}""",
    "orchestrator": """
Pulling image acme/{service}:{tag}
Back-off restarting failed container {service} in pod {service}-{hex}-{short}
Created container {service}
Started container {service}
Killing container {service} of pod {service}-{short}
Successfully assigned {mount}/{service}-{short} to {host}
MountVolume.SetUp failed for volume {mount} : secret {service} not found
Unit {service}.service entered failed state.
Starting {unit}...
Started {unit}.
Stopped {unit}.
New session {n} of user {user}.
Removed session {n}.
{service}.service: main process exited, code=exited, status={digit}/FAILURE
device veth{short} entered promiscuous mode
device veth{short} left promiscuous mode
Scaled up replica set {service}-{hex} to {digit}
Scaled down replica set {service}-{hex} to {digit}
lease {mount} acquired by {host}
lease {mount} lost by {host}
plugin {module} registered
plugin {module} failed""",
}


def _drawn(field: str, rng: random.Random) -> str:
    if field in _VALUES:
        values = _VALUES[field]
        return rng.choices(values, [1 / (rank + 1) for rank in range(len(values))])[0]
    numbers = {"n": 99_999, "digit": 9}
    if field in numbers:
        return str(rng.randint(0, numbers[field]))
    if field == "ip":
        return ".".join(str(rng.randint(1, 254)) for _ in range(4))
    if field == "mac":
        return ":".join(f"{rng.randint(0, 255):02x}" for _ in range(6))
    if field == "long":
        return str(rng.randint(-(10**18), 10**18))
    return "".join(rng.choices("0123456789abcdef", k={"hex": 9, "short": 5}[field]))


def system_lines(lines: int = 2_000, seed: int = 7) -> pl.DataFrame:
    """So many lines of each system: project (the system), error (the template), error_message."""
    rng = random.Random(seed)
    rows = []
    for system, text in _SYSTEMS.items():
        templates = text.strip().split("\n")
        rng.shuffle(templates)
        weights = [(rank + 1) ** -0.8 for rank in range(len(templates))]
        for template in rng.choices(templates, weights, k=lines):
            said = re.sub(r"\{(\w+)\}", lambda field: _drawn(field[1], rng), template)
            rows.append((system, f"{system}: {template}", said))
    return pl.DataFrame(rows, schema=["project", "error", "error_message"], orient="row")
