/* A libnvidia-ml.so.1 without a GPU, with the symbols and layouts of NVIDIA's own.

   NVML_STUB, or stub_configure(), is a list "key=value;key=value":
     devices=N            how many GPUs there are (1)
     model=TEXT           their name; model1=TEXT that of GPU 1
     arch=N               their architecture as NVML numbers it (9, Hopper)
     low=W, high=W        power: a square wave of 1 Hz between them (both 100 W)
     energy=RATIO         of the energy that is counted to what is drawn (1)
     start=mJ             what the energy counter starts from (1000000)
     lost=DEVICE          a GPU that falls off the bus, at lost_at=SECONDS (0)
     init=CODE            what initialising returns (0)
     mig=1                GPUs are divided
     ecc=N                corrected errors a second
     CALL=CODE            what a call returns: nvmlDeviceGetFanSpeed=3, field186=3
     slow_CALL=US         how long it takes, in microseconds: slow_field185=3000
   Time is CLOCK_MONOTONIC since the library was loaded, or what stub_time() set.
   -DOLD_DRIVER leaves out what older drivers do not have. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int nvmlReturn_t;
typedef struct device { unsigned index; int mig; } *nvmlDevice_t;
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6,
       INSUFFICIENT_SIZE = 7, GPU_IS_LOST = 15 };

#define MOST 16
static struct device devices[MOST], slices[MOST];
static char settings[2048];
static double set_time = -1, loaded;
static int users;

static double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static double now(void) { return set_time >= 0 ? set_time : clock_seconds() - loaded; }
void stub_time(double seconds) { set_time = seconds; }
void stub_configure(const char *text) {
    snprintf(settings, sizeof settings, ";%s;", text ? text : "");
}
__attribute__((constructor)) static void load(void) {
    loaded = clock_seconds();
    stub_configure(getenv("NVML_STUB"));
    for (unsigned i = 0; i < MOST; i++) {
        devices[i].index = slices[i].index = i;
        slices[i].mig = 1;
    }
}
static const char *found(const char *key) {
    char wanted[80];
    snprintf(wanted, sizeof wanted, ";%s=", key);
    const char *at = strstr(settings, wanted);
    return at ? at + strlen(wanted) : NULL;
}
static double number(const char *key, double otherwise) {
    const char *at = found(key);
    return at ? atof(at) : otherwise;
}
static void copy(const char *key, const char *otherwise, char *out, unsigned length) {
    const char *at = found(key);
    snprintf(out, length, "%.*s", at ? (int)strcspn(at, ";") : 80, at ? at : otherwise);
}
static unsigned count(void) { return (unsigned)number("devices", 1); }
static nvmlReturn_t enter(const char *call, nvmlDevice_t device) {
    if (!users) return UNINITIALIZED;
    if (device && number("lost", -1) == device->index && now() >= number("lost_at", 0))
        return GPU_IS_LOST;
    char slow[80];
    snprintf(slow, sizeof slow, "slow_%s", call);
    unsigned us = (unsigned)number(slow, 0);
    struct timespec wait = {us / 1000000, us % 1000000 * 1000};
    if (us) nanosleep(&wait, NULL);
    return (nvmlReturn_t)number(call, SUCCESS);
}
#define ENTER(device) do { nvmlReturn_t r = enter(__func__, device); if (r) return r; } while (0)

/* watts at an instant, and their integral: the wave is low in the first second */
static double drawn(double t) {
    return t < 0 || (long)t % 2 == 0 ? number("low", 100) : number("high", 100);
}
static double joules(double t) {
    double low = number("low", 100), high = number("high", 100), whole = (long)t;
    double odd = (double)((long)t / 2);
    return (whole - odd) * low + odd * high + (t - whole) * drawn(t);
}
static double average(double t) { /* of the last second; it was low before the start */
    return t >= 1 ? joules(t) - joules(t - 1) : joules(t) + (1 - t) * number("low", 100);
}

nvmlReturn_t nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    nvmlReturn_t code = (nvmlReturn_t)number("init", SUCCESS);
    if (code == SUCCESS) users++;
    return code;
}
nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlShutdown(void) {
    if (!users) return UNINITIALIZED;
    users--;
    return SUCCESS;
}
int stub_users(void) { return users; }
void stub_reset(void) { users = 0; }
const char *nvmlErrorString(nvmlReturn_t code) { (void)code; return "an error"; }
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *n) { ENTER(NULL); *n = count(); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t *device) {
    ENTER(NULL);
    if (i >= count()) return INVALID_ARGUMENT;
    *device = &devices[i];
    return enter(i ? "handle1" : "handle0", NULL);
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    ENTER(NULL);
    unsigned i;
    if (sscanf(uuid, "MIG-%u", &i) != 1 || i >= count()) return NOT_FOUND;
    *device = &slices[i];
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t slice, nvmlDevice_t *device) {
    ENTER(slice);
    if (!slice->mig) return INVALID_ARGUMENT;
    *device = &devices[slice->index];
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t d, unsigned *i) { ENTER(d); *i = d->index; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *text, unsigned n) {
    ENTER(d);
    copy(d->index == 1 && found("model1") ? "model1" : "model", "NVIDIA H200", text, n);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *text, unsigned n) {
    ENTER(d);
    snprintf(text, n, "GPU-%08x-1111-2222-3333-444444444444", 0xabc0u + d->index);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned *mw) {
    ENTER(d);
    double t = now();
    *mw = (unsigned)(1000 * (number("arch", 9) >= 7 ? average(t) : drawn(t)));
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t d, unsigned *mw) { ENTER(d); *mw = 700000; return SUCCESS; }
struct utilization { unsigned gpu, memory; };
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, struct utilization *u) {
    ENTER(d);
    u->gpu = drawn(now()) > number("low", 100) ? 100 : 7;
    u->memory = 30;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t d, unsigned *u, unsigned *us) { ENTER(d); *u = 11; *us = 166666; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t d, unsigned *u, unsigned *us) { ENTER(d); *u = 12; *us = 166666; return SUCCESS; }
struct memory { unsigned long long total, free, used; };
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, struct memory *m) {
    ENTER(d);
    m->total = 150ull << 30;
    m->used = (1ull + d->index) << 30;
    m->free = m->total - m->used;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t d, struct memory *m) {
    ENTER(d);
    m->total = 256ull << 30; m->used = 3ull << 20; m->free = m->total - m->used;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, int clock, unsigned *mhz) {
    ENTER(d);
    *mhz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, int sensor, unsigned *celsius) {
    ENTER(d);
    if (sensor) return INVALID_ARGUMENT;
    *celsius = 41;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t d, int counter, unsigned *kb) {
    ENTER(d);
    *kb = counter ? 2000 : 1000; /* 0 is sent, 1 is received */
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t d, int kind, int counter, unsigned long long *n) {
    ENTER(d);
    if (counter) return INVALID_ARGUMENT;
    *n = kind ? 0 : (unsigned long long)(number("ecc", 0) * now());
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t d, unsigned *percent) { ENTER(d); *percent = 35; return SUCCESS; }
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned n) {
    ENTER(NULL);
    snprintf(name, n, "/home/somebody/bin/train-%u", pid);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long *mj) {
    ENTER(d);
    double t = (long)(now() * 10 + 1e-6) / 10.0; /* renewed each 100 ms */
    *mj = (unsigned long long)(number("start", 1e6) + 1000 * number("energy", 1) * joules(t));
    return SUCCESS;
}
struct process { unsigned pid; unsigned long long used; unsigned gpu, compute; };
static nvmlReturn_t listed(unsigned *n, struct process *out) {
    unsigned running = (unsigned)number("running", 2), room = *n;
    *n = running;
    if (room < running || (running && !out)) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < running; i++) {
        out[i].pid = 4000 + i;
        out[i].used = i ? ~0ull : 1ull << 29; /* all ones: not known */
        out[i].gpu = out[i].compute = ~0u;
    }
    return SUCCESS;
}
#ifdef OLD_DRIVER
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t d, unsigned *n, struct process *out) { ENTER(d); return listed(n, out); }
#else
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t d, unsigned *a) { ENTER(d); *a = (unsigned)number("arch", 9); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned *current, unsigned *pending) {
    ENTER(d);
    *current = *pending = (unsigned)number("mig", 0);
    return SUCCESS;
}
struct temperature { unsigned version, sensor; int celsius; };
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t d, struct temperature *t) { ENTER(d); t->celsius = 43; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned *n, struct process *out) { ENTER(d); return listed(n, out); }
struct field {
    unsigned id, scope;
    long long timestamp, latency;
    int type;
    nvmlReturn_t code;
    union { double d; unsigned ui; unsigned long ul; unsigned long long ull; } value;
};
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t d, int n, struct field *fields) {
    ENTER(d);
    for (int i = 0; i < n; i++) {
        struct field *f = &fields[i];
        char name[24];
        snprintf(name, sizeof name, "field%u", f->id);
        f->code = enter(name, d);
        f->type = 1;
        switch (f->id) {
        case 82: f->value.ui = 55; break;
        case 185: f->value.ui = (unsigned)(1000 * average(now())); break;
        case 186: f->value.ui = (unsigned)(1000 * drawn(now())); break;
        case 197: f->value.ui = (unsigned)(4294960000ull + (unsigned long long)(now() * 1000)); break;
        case 198: f->type = 3; f->value.ull = (1ull << 40) + (unsigned long long)(now() * 2000); break;
        default: f->code = 3;
        }
    }
    return SUCCESS;
}
#endif
