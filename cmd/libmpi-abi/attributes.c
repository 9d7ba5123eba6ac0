/* Attributes of communicators, windows and datatypes (MPI-5.0 §7.7): lists at their slots,
 * the attribute that was set last first. They never cross to Go. Functions of the program
 * run without the lock, and each value is out of its list while its delete function runs:
 * of several threads one deletes it. */
#include <pthread.h>
#include <stdlib.h>

#include "weft.h"

typedef int copy_function(void *object, int key, void *extra, void *value, void *copied, int *flag);
typedef int delete_function(void *object, int key, void *value, void *extra);

/* A key is never given back to malloc: a number that is stale is told from a good one. */
struct key {
	int number;           /* of those that the program has or had */
	int references;       /* one for each attribute, and one of the program's; 0: free */
	int freed;            /* the program's is gone */
	enum weft_kind kind;  /* of the objects that have it */
	copy_function *copy;
	delete_function *delete;
	void *extra;
	struct key *next_free;
};

struct weft_attribute {
	struct weft_attribute *next;
	struct key *key;
	void *value;
	uint64_t order; /* in which attributes were set */
};

enum { FIRST_KEY = 4096, MOST_KEYS = 1 << 20 }; /* a number is generation<<20 + index, from FIRST_KEY on */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the rest, and all lists */
static struct key **keys, *free_keys;
static int key_count, key_room;
static uint64_t last_order;

static inline void *object_of(uint64_t handle) { return (void *)(uintptr_t)handle; }

/* The caller has the lock. */
static struct key *find_key(enum weft_kind kind, int number)
{
	int i = (number & (MOST_KEYS - 1)) - FIRST_KEY;
	struct key *k = i >= 0 && i < key_count ? keys[i] : NULL;
	return k && k->number == number && k->kind == kind && k->references > 0 ? k : NULL;
}

/* The caller has the lock. */
static void release(struct key *k)
{
	if (--k->references > 0)
		return;
	k->next_free = free_keys;
	free_keys = k;
}

/* new_key is a key that was freed, with its next number, or another one; or NULL. The caller
 * has the lock. */
static struct key *new_key(void)
{
	struct key *k = free_keys, **more;
	if (k) {
		free_keys = k->next_free;
		k->number = (int)(((unsigned)k->number + MOST_KEYS) & 0x7fffffff);
		return k;
	}
	if (key_count == key_room) {
		int room = key_room ? 2 * key_room : 64;
		if (room > MOST_KEYS - FIRST_KEY || !(more = realloc(keys, (size_t)room * sizeof *keys)))
			return NULL;
		keys = more;
		key_room = room;
	}
	if (!(k = calloc(1, sizeof *k)))
		return NULL;
	k->number = FIRST_KEY + key_count;
	keys[key_count++] = k;
	return k;
}

static int create_key(enum weft_kind kind, copy_function *copy, delete_function *delete, int *number, void *extra, const char *call)
{
	struct key *k;
	if (!number)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, call);
	pthread_mutex_lock(&lock);
	if ((k = new_key()) != NULL) {
		k->references = 1;
		k->freed = 0;
		k->kind = kind;
		k->copy = copy;
		k->delete = delete;
		k->extra = extra;
		*number = k->number;
	}
	pthread_mutex_unlock(&lock);
	return k ? MPI_SUCCESS : weft_raise_on(WEFT_NONE, 0, MPI_ERR_NO_MEM, call);
}

/* A key stays until its attributes are gone, and can be used until then. */
static int free_key(enum weft_kind kind, int *number, const char *call)
{
	struct key *k;
	if (!number)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, call);
	pthread_mutex_lock(&lock);
	if ((k = find_key(kind, *number)) != NULL && k->freed)
		k = NULL;
	if (k) {
		k->freed = 1;
		release(k);
	}
	pthread_mutex_unlock(&lock);
	if (!k)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_KEYVAL, call);
	*number = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

/* take removes the attribute of a key from a list. The caller has the lock. */
static struct weft_attribute *take(struct weft_slot *s, const struct key *k)
{
	struct weft_attribute **at = &s->attributes, *found;
	while (*at && (*at)->key != k)
		at = &(*at)->next;
	if ((found = *at) != NULL)
		*at = found->next;
	return found;
}

static struct weft_attribute *take_first(struct weft_slot *s)
{
	struct weft_attribute *a;
	pthread_mutex_lock(&lock);
	if ((a = s->attributes) != NULL)
		s->attributes = a->next;
	pthread_mutex_unlock(&lock);
	return a;
}

/* put adds an attribute, at its place if it was in the list before. The caller has the lock. */
static void put(struct weft_slot *s, struct weft_attribute *a)
{
	struct weft_attribute **at = &s->attributes;
	if (!a->order)
		a->order = ++last_order;
	while (*at && (*at)->order > a->order)
		at = &(*at)->next;
	a->next = *at;
	*at = a;
}

static void put_alone(struct weft_slot *s, struct weft_attribute *a)
{
	pthread_mutex_lock(&lock);
	put(s, a);
	pthread_mutex_unlock(&lock);
}

/* code_of is the error code of a call whose function of the program has failed. */
static int code_of(int returned) { return returned > 0 ? returned : MPI_ERR_OTHER; }

static void discard(struct weft_attribute *a)
{
	pthread_mutex_lock(&lock);
	release(a->key);
	pthread_mutex_unlock(&lock);
	free(a);
}

/* copied copies the value of an attribute, unless its key's copy function wants none. */
static int copied(struct weft_attribute *a, uint64_t from, int *flag)
{
	struct key *k = a->key;
	void *value = NULL;
	int failed;
	*flag = W(k->copy) == W(MPI_COMM_DUP_FN);
	if (*flag || !k->copy)
		return MPI_SUCCESS;
	failed = k->copy(object_of(from), k->number, k->extra, a->value, &value, flag);
	a->value = value;
	return failed ? code_of(failed) : MPI_SUCCESS;
}

int weft_attributes_copy(enum weft_kind kind, uint64_t from, uint64_t to)
{
	struct weft_slot *s = weft_slot_of(kind, to);
	struct weft_attribute *a, *copies = NULL, *copy;
	int flag, code = MPI_SUCCESS;
	pthread_mutex_lock(&lock);
	for (a = weft_slot_of(kind, from)->attributes; a; a = a->next) {
		if (!(copy = malloc(sizeof *copy))) {
			code = MPI_ERR_NO_MEM;
			break;
		}
		*copy = (struct weft_attribute){.next = copies, .key = a->key, .value = a->value};
		copy->key->references++;
		copies = copy;
	}
	pthread_mutex_unlock(&lock);
	while ((a = copies) != NULL) {
		copies = a->next;
		if (code || (code = copied(a, from, &flag)) != MPI_SUCCESS || !flag)
			discard(a);
		else
			put_alone(s, a);
	}
	while (code && (a = take_first(s)) != NULL) {
		if (a->key->delete)
			a->key->delete(object_of(to), a->key->number, a->value, a->key->extra);
		discard(a);
	}
	return code;
}

/* end deletes an attribute that is in no list. If its delete function fails it is put back. */
static int end(struct weft_slot *s, uint64_t handle, struct weft_attribute *a)
{
	struct key *k = a->key;
	int failed = k->delete ? k->delete(object_of(handle), k->number, a->value, k->extra) : MPI_SUCCESS;
	if (failed) {
		put_alone(s, a);
		return code_of(failed);
	}
	discard(a);
	return MPI_SUCCESS;
}

int weft_attributes_end(enum weft_kind kind, uint64_t handle)
{
	struct weft_slot *s = weft_slot_of(kind, handle);
	struct weft_attribute *a;
	int code = MPI_SUCCESS;
	while (!code && (a = take_first(s)) != NULL)
		code = end(s, handle, a);
	return code;
}

static int set(enum weft_kind kind, uint64_t handle, int number, void *value, const char *call)
{
	struct weft_slot *s = weft_find(kind, handle);
	struct weft_attribute *a, *old;
	struct key *k;
	int code = MPI_SUCCESS;
	if (weft_ready() || !s)
		return weft_refuse(kind, handle, call);
	if (!(a = malloc(sizeof *a)))
		return weft_raise_on(kind, handle, MPI_ERR_NO_MEM, call);
	do { /* while an old one ends, another thread may set it again */
		pthread_mutex_lock(&lock);
		k = find_key(kind, number);
		old = k ? take(s, k) : NULL;
		if (k && !old) {
			k->references++;
			*a = (struct weft_attribute){.key = k, .value = value};
			put(s, a);
		}
		pthread_mutex_unlock(&lock);
		if (old)
			code = end(s, handle, old);
	} while (old && !code);
	if (!k)
		code = MPI_ERR_KEYVAL;
	if (!code)
		return MPI_SUCCESS;
	free(a);
	return weft_raise_on(kind, handle, code, call);
}

/* Where there is no attribute of the key, nothing happens. */
static int delete(enum weft_kind kind, uint64_t handle, int number, const char *call)
{
	struct weft_slot *s = weft_find(kind, handle);
	struct weft_attribute *a = NULL;
	struct key *k;
	int code;
	if (weft_ready() || !s)
		return weft_refuse(kind, handle, call);
	pthread_mutex_lock(&lock);
	if ((k = find_key(kind, number)) != NULL)
		a = take(s, k);
	pthread_mutex_unlock(&lock);
	code = !k ? MPI_ERR_KEYVAL : a ? end(s, handle, a) : MPI_SUCCESS;
	return code ? weft_raise_on(kind, handle, code, call) : MPI_SUCCESS;
}

/* Attributes that every communicator has. Their values are in memory that stays, as the
 * program gets pointers to them. */
static int predefined(int number, void *value, int *flag, MPI_Comm comm)
{
	static int values[MPI_UNIVERSE_SIZE - MPI_TAG_UB + 1];
	int *at = &values[number - MPI_TAG_UB];
	struct weft_args a = {.word = {W(comm), (uint64_t)number, W(at), W(flag)}};
	*(int **)value = at;
	return weft_go(weft_fn_Comm_get_attr, &a);
}

/* Those of a window are in its slot. */
static void *of_window(struct weft_slot *s, int number)
{
	switch (number) {
	case MPI_WIN_BASE:
		return s->base;
	case MPI_WIN_SIZE:
		return &s->length;
	case MPI_WIN_DISP_UNIT:
		return &s->unit;
	case MPI_WIN_CREATE_FLAVOR:
		return &s->flavor;
	default:
		return &s->model;
	}
}

static int get(enum weft_kind kind, uint64_t handle, int number, void *value, int *flag, const char *call)
{
	struct weft_slot *s = weft_find(kind, handle);
	struct weft_attribute *a;
	struct key *k;
	int code = MPI_SUCCESS;
	if (weft_ready() || !s || !value || !flag)
		return weft_refuse(kind, handle, call);
	if (kind == WEFT_COMM && number >= MPI_TAG_UB && number <= MPI_UNIVERSE_SIZE) {
		code = predefined(number, value, flag, object_of(handle));
		return code ? weft_raise_on(kind, handle, code, call) : MPI_SUCCESS;
	}
	if (kind == WEFT_WIN && number >= MPI_WIN_BASE && number <= MPI_WIN_MODEL) {
		*(void **)value = of_window(s, number);
		*flag = 1;
		return MPI_SUCCESS;
	}
	pthread_mutex_lock(&lock);
	k = find_key(kind, number);
	for (a = k ? s->attributes : NULL; a && a->key != k; a = a->next) {
	}
	if (a)
		*(void **)value = a->value;
	pthread_mutex_unlock(&lock);
	if (!k)
		return weft_raise_on(kind, handle, MPI_ERR_KEYVAL, call);
	*flag = a != NULL;
	return MPI_SUCCESS;
}

MPI_API(Comm_create_keyval, MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval, void *extra)
{
	return create_key(WEFT_COMM, (copy_function *)copy, (delete_function *)delete, keyval, extra, "MPI_Comm_create_keyval");
}

MPI_API(Comm_free_keyval, int *keyval) { return free_key(WEFT_COMM, keyval, "MPI_Comm_free_keyval"); }
MPI_API(Comm_set_attr, MPI_Comm comm, int keyval, void *value) { return set(WEFT_COMM, W(comm), keyval, value, "MPI_Comm_set_attr"); }
MPI_API(Comm_get_attr, MPI_Comm comm, int keyval, void *value, int *flag) { return get(WEFT_COMM, W(comm), keyval, value, flag, "MPI_Comm_get_attr"); }
MPI_API(Comm_delete_attr, MPI_Comm comm, int keyval) { return delete(WEFT_COMM, W(comm), keyval, "MPI_Comm_delete_attr"); }

MPI_API(Win_create_keyval, MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *keyval, void *extra)
{
	return create_key(WEFT_WIN, (copy_function *)copy, (delete_function *)delete, keyval, extra, "MPI_Win_create_keyval");
}

MPI_API(Win_free_keyval, int *keyval) { return free_key(WEFT_WIN, keyval, "MPI_Win_free_keyval"); }
MPI_API(Win_set_attr, MPI_Win win, int keyval, void *value) { return set(WEFT_WIN, W(win), keyval, value, "MPI_Win_set_attr"); }
MPI_API(Win_get_attr, MPI_Win win, int keyval, void *value, int *flag) { return get(WEFT_WIN, W(win), keyval, value, flag, "MPI_Win_get_attr"); }
MPI_API(Win_delete_attr, MPI_Win win, int keyval) { return delete(WEFT_WIN, W(win), keyval, "MPI_Win_delete_attr"); }

MPI_API(Type_create_keyval, MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *keyval, void *extra)
{
	return create_key(WEFT_DATATYPE, (copy_function *)copy, (delete_function *)delete, keyval, extra, "MPI_Type_create_keyval");
}

MPI_API(Type_free_keyval, int *keyval) { return free_key(WEFT_DATATYPE, keyval, "MPI_Type_free_keyval"); }
MPI_API(Type_set_attr, MPI_Datatype datatype, int keyval, void *value) { return set(WEFT_DATATYPE, W(datatype), keyval, value, "MPI_Type_set_attr"); }
MPI_API(Type_get_attr, MPI_Datatype datatype, int keyval, void *value, int *flag) { return get(WEFT_DATATYPE, W(datatype), keyval, value, flag, "MPI_Type_get_attr"); }
MPI_API(Type_delete_attr, MPI_Datatype datatype, int keyval) { return delete(WEFT_DATATYPE, W(datatype), keyval, "MPI_Type_delete_attr"); }

/* The names of MPI-1. */
MPI_API(Keyval_create, MPI_Copy_function *copy, MPI_Delete_function *delete, int *keyval, void *extra)
{
	return create_key(WEFT_COMM, (copy_function *)copy, (delete_function *)delete, keyval, extra, "MPI_Keyval_create");
}

MPI_API(Keyval_free, int *keyval) { return free_key(WEFT_COMM, keyval, "MPI_Keyval_free"); }
MPI_API(Attr_put, MPI_Comm comm, int keyval, void *value) { return set(WEFT_COMM, W(comm), keyval, value, "MPI_Attr_put"); }
MPI_API(Attr_get, MPI_Comm comm, int keyval, void *value, int *flag) { return get(WEFT_COMM, W(comm), keyval, value, flag, "MPI_Attr_get"); }
MPI_API(Attr_delete, MPI_Comm comm, int keyval) { return delete(WEFT_COMM, W(comm), keyval, "MPI_Attr_delete"); }
