; Views without the interpreter: parts by ints, slices, None and ..., other shapes of what lies in one piece, dimensions in another
; order. Nothing is copied, so that any dtype will do. A gradient is recorded by the rule in Python. Of a function's words (paths.ll)
; 32 says which view it makes, 33 the kernel that was last looked at, 34 whether that is the one which this file stands for, and 35
; the kernels by device of an operator in others, which must have none for the CPU.

@v_learn = global ptr null      ; a function that is told of another kernel
; Where a storage's fields lie, besides those that other files name.
@v_array_at = global i64 0
@v_key_at = global i64 0
@v_lent_at = global i64 0
@v_listing_at = global i64 0
@v_marked_at = global i64 0
@v_noting_at = global i64 0
@v_origin_at = global i64 0     ; of a tensor
@v_unlisted_at = global i64 0
@v_views_at = global i64 0
@v_no_grad = global ptr null    ; the string "no_grad"

declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare ptr @PyWeakref_NewRef(ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)

; Put a further reference to an object into a field that is still empty.
define internal void @first_value(ptr %object, ptr %place, ptr %value) alwaysinline {
  call void @Py_IncRef(ptr %value)
  call void @set_field(ptr %object, ptr %place, ptr %value)
  ret void
}

; The storage of an array that nobody has asked for one, as `Storage(array, CPU)` makes it.
define internal ptr @new_storage(ptr %array) {
entry:
  %views = call ptr @PyDict_New()
  %no_views = icmp eq ptr %views, null
  br i1 %no_views, label %lost, label %make
make:
  %Storage = load ptr, ptr @p_Storage
  %made = call ptr @PyType_GenericAlloc(ptr %Storage, i64 0)
  %none = icmp eq ptr %made, null
  br i1 %none, label %drop, label %fill
drop:
  call void @Py_DecRef(ptr %views)
  br label %lost
lost:
  ret ptr null
fill:
  %CPU = load ptr, ptr @p_CPU
  %False = load ptr, ptr @g_False
  %zero = load ptr, ptr @r_zero
  call void @first_value(ptr %made, ptr @v_array_at, ptr %array)
  call void @first_value(ptr %made, ptr @v_key_at, ptr %CPU)
  call void @first_value(ptr %made, ptr @p_version, ptr %zero)
  call void @first_value(ptr %made, ptr @u_guarded_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_lent_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_listing_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_marked_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_noting_at, ptr %False)
  call void @first_value(ptr %made, ptr @v_unlisted_at, ptr %False)
  call void @set_field(ptr %made, ptr @v_views_at, ptr %views)
  ret ptr %made
}

; An array on another's memory.
define internal ptr @array_view(ptr %array, ptr %geometry) {
entry:
  %Array = load ptr, ptr @g_ndarray
  %nd = call i64 @word(ptr %geometry, i64 0)
  %offset = call i64 @word(ptr %geometry, i64 1)
  %dims = getelementptr i64, ptr %geometry, i64 8
  %steps = getelementptr i64, ptr %geometry, i64 40
  %rank = trunc i64 %nd to i32
  %data0 = call ptr @at(ptr %array, i64 16)
  %data = getelementptr i8, ptr %data0, i64 %offset
  %dtype = call ptr @at(ptr %array, i64 56)
  %flags_at = getelementptr i8, ptr %array, i64 64
  %all_flags = load i32, ptr %flags_at
  %flags = and i32 %all_flags, 1024  ; whether it may be written; the others NumPy finds by itself
  call void @Py_IncRef(ptr %dtype)
  %made = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %dtype, i32 %rank, ptr %dims, ptr %steps, ptr %data, i32 %flags, ptr null)
  %lost = icmp eq ptr %made, null
  br i1 %lost, label %fail, label %hold
hold:
  call void @Py_IncRef(ptr %array)
  %held = call i32 @PyArray_SetBaseObject(ptr %made, ptr %array)
  %failed = icmp slt i32 %held, 0
  br i1 %failed, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %made)
  br label %fail
done:
  ret ptr %made
fail:
  ret ptr null
}

; Whether the kernel which the CPU has for this operator is the one that this file stands for.
define i1 @stands_for(ptr %words) {
entry:
  %told = alloca [2 x ptr]
  %CPU = load ptr, ptr @p_CPU
  %kernels = call ptr @pointer(ptr %words, i64 2)
  %k = call ptr @PyDict_GetItemWithError(ptr %kernels, ptr %CPU)
  %unknown = icmp eq ptr %k, null
  br i1 %unknown, label %no, label %known
known:
  %last = call ptr @pointer(ptr %words, i64 33)
  %seen = icmp eq ptr %last, %k
  br i1 %seen, label %judge, label %learn
learn:
  %learner = load ptr, ptr @v_learn
  %where_int = ptrtoint ptr %words to i64
  %where = call ptr @PyLong_FromSsize_t(i64 %where_int)
  %lost = icmp eq ptr %where, null
  br i1 %lost, label %clear, label %tell
tell:
  %told1 = getelementptr ptr, ptr %told, i64 1
  store ptr %where, ptr %told
  store ptr %k, ptr %told1
  %answered = call ptr @PyObject_Vectorcall(ptr %learner, ptr %told, i64 2, ptr null)
  call void @Py_DecRef(ptr %where)
  %unanswered = icmp eq ptr %answered, null
  br i1 %unanswered, label %clear, label %drop
drop:
  call void @Py_DecRef(ptr %answered)
  br label %judge
judge:
  %good = call i64 @word(ptr %words, i64 34)
  %is_good = icmp eq i64 %good, 1
  br i1 %is_good, label %beside, label %no
beside:
  %others = call ptr @pointer(ptr %words, i64 35)
  %alone = icmp eq ptr %others, null
  br i1 %alone, label %yes, label %look
look:
  %other = call ptr @PyDict_GetItemWithError(ptr %others, ptr %CPU)
  %None = load ptr, ptr @g_None
  %none = icmp eq ptr %other, %None
  br i1 %none, label %yes, label %no
clear:
  call void @PyErr_Clear()
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal void @set_true(ptr %object, ptr %place) alwaysinline {
  %True = load ptr, ptr @g_True
  call void @Py_IncRef(ptr %True)
  call void @replace(ptr %object, ptr %place, ptr %True)
  ret void
}

; Note on a view that it came about where a write to it cannot be recorded (`off`), or is a view of one that did: `_mark_view` of
; tenfold.tensor.storage.
define internal void @mark_view(ptr %t, ptr %tensor, ptr %storage, i1 %off) {
entry:
  br i1 %off, label %here, label %marks
here:
  %no_grad = load ptr, ptr @v_no_grad
  br label %mark
marks:
  %True = load ptr, ptr @g_True
  %marked = call ptr @field(ptr %storage, ptr @v_marked_at)
  %is_marked = icmp eq ptr %marked, %True
  br i1 %is_marked, label %inherit, label %done
inherit:
  %its = call ptr @field(ptr %tensor, ptr @v_origin_at)
  %none = icmp eq ptr %its, null
  br i1 %none, label %done, label %mark
mark:
  %origin = phi ptr [%no_grad, %here], [%its, %inherit]
  call void @first_value(ptr %t, ptr @v_origin_at, ptr %origin)
  call void @set_true(ptr %storage, ptr @v_marked_at)
  call void @set_true(ptr %storage, ptr @v_noting_at)
  call void @set_true(ptr %storage, ptr @u_guarded_at)
  br label %done
done:
  ret void
}

; The tensor of a view of another tensor, with the array whose reference it takes; null with an error. `off`: gradients are.
define internal ptr @tensor_view(ptr %tensor, ptr %array, i1 %off) {
entry:
  %None = load ptr, ptr @g_None
  %known = call ptr @field(ptr %tensor, ptr @p_storage)
  %unknown = icmp eq ptr %known, %None
  br i1 %unknown, label %make, label %have
make:
  %whole = call ptr @field(ptr %tensor, ptr @p_array)
  %new = call ptr @new_storage(ptr %whole)
  %lost = icmp eq ptr %new, null
  br i1 %lost, label %drop_array, label %put
drop_array:
  call void @Py_DecRef(ptr %array)
  ret ptr null
put:
  call void @replace(ptr %tensor, ptr @p_storage, ptr %new)
  br label %have
have:
  %storage = phi ptr [%known, %entry], [%new, %put]
  %t = call ptr @new_tensor(ptr %array)
  %no_tensor = icmp eq ptr %t, null
  br i1 %no_tensor, label %fail, label %fill
fill:
  %own_base = call ptr @field(ptr %tensor, ptr @p_base)
  %is_base = icmp eq ptr %own_base, %None
  %base = select i1 %is_base, ptr %tensor, ptr %own_base
  call void @Py_IncRef(ptr %storage)
  call void @Py_IncRef(ptr %base)
  call void @replace(ptr %t, ptr @p_storage, ptr %storage)
  call void @replace(ptr %t, ptr @p_base, ptr %base)
  call void @mark_view(ptr %t, ptr %tensor, ptr %storage, i1 %off)
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  br i1 %free, label %unlisted, label %list
unlisted:
  call void @set_true(ptr %storage, ptr @v_unlisted_at)
  ret ptr %t
list:
  %views = call ptr @field(ptr %storage, ptr @v_views_at)
  %place_int = ptrtoint ptr %t to i64
  %place = call ptr @PyLong_FromSsize_t(i64 %place_int)
  %no_place = icmp eq ptr %place, null
  br i1 %no_place, label %drop, label %refer
refer:
  %weak = call ptr @PyWeakref_NewRef(ptr %t, ptr null)
  %no_weak = icmp eq ptr %weak, null
  br i1 %no_weak, label %drop_place, label %enter
enter:
  %entered = call i32 @PyDict_SetItem(ptr %views, ptr %place, ptr %weak)
  call void @Py_DecRef(ptr %weak)
  call void @Py_DecRef(ptr %place)
  %failed = icmp slt i32 %entered, 0
  br i1 %failed, label %drop, label %done
done:
  ret ptr %t
drop_place:
  call void @Py_DecRef(ptr %place)
  br label %drop
drop:
  call void @Py_DecRef(ptr %t)
  br label %fail
fail:
  ret ptr null
}

; Let the rule in Python give a view its node; false with an error.
define internal i1 @attach_view(ptr %rule, ptr %t, ptr %args, i64 %n, i64 %told) {
entry:
  %given = alloca [5 x ptr]
  %count_is = alloca i64
  %tensor = load ptr, ptr %args
  %slot1 = getelementptr ptr, ptr %given, i64 1
  %slot2 = getelementptr ptr, ptr %given, i64 2
  store ptr %t, ptr %given
  store ptr %tensor, ptr %slot1
  call void @Py_IncRef(ptr %rule)  ; the first use of a rule puts another in its place
  %listed = icmp eq i64 %told, -2
  br i1 %listed, label %list, label %plain
plain:
  %p = phi i64 [0, %entry], [%pnext, %plain_one]
  %p_end = icmp eq i64 %p, %told
  br i1 %p_end, label %call_plain, label %plain_one
plain_one:
  %pnext = add i64 %p, 1
  %value = call ptr @pointer(ptr %args, i64 %pnext)
  %p_slot = getelementptr ptr, ptr %slot1, i64 %pnext
  store ptr %value, ptr %p_slot
  br label %plain
call_plain:
  %p_count = add i64 %told, 2
  br label %call
list:
  %items = call ptr @listed(ptr %args, i64 %n, ptr %count_is)
  %count = load i64, ptr %count_is
  %tuple = call ptr @PyTuple_New(i64 %count)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %fail, label %fill
fill:
  %i = phi i64 [0, %list], [%inext, %fill_one]
  %i_end = icmp eq i64 %i, %count
  br i1 %i_end, label %call, label %fill_one
fill_one:
  %item = call ptr @pointer(ptr %items, i64 %i)
  call void @Py_IncRef(ptr %item)
  %item_at = add i64 %i, 3
  %item_slot = getelementptr ptr, ptr %tuple, i64 %item_at
  store ptr %item, ptr %item_slot
  %inext = add i64 %i, 1
  br label %fill
call:
  %m = phi i64 [%p_count, %call_plain], [3, %fill]
  %own = phi ptr [null, %call_plain], [%tuple, %fill]
  %owns = icmp ne ptr %own, null
  br i1 %owns, label %with_tuple, label %perform
with_tuple:
  store ptr %own, ptr %slot2
  br label %perform
perform:
  %answer = call ptr @PyObject_Vectorcall(ptr %rule, ptr %given, i64 %m, ptr null)
  br i1 %owns, label %drop_tuple, label %look
drop_tuple:
  call void @Py_DecRef(ptr %own)
  br label %look
look:
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %fail, label %done
done:
  call void @Py_DecRef(ptr %answer)
  call void @Py_DecRef(ptr %rule)
  ret i1 true
fail:
  call void @Py_DecRef(ptr %rule)
  ret i1 false
}

; Whether a view of this tensor may be made just so: its storage lists no views but those of a graph.
define internal i1 @unobserved(ptr %tensor) {
entry:
  %None = load ptr, ptr @g_None
  %storage = call ptr @field(ptr %tensor, ptr @p_storage)
  %base = call ptr @field(ptr %tensor, ptr @p_base)
  %unset1 = icmp eq ptr %storage, null
  %unset2 = icmp eq ptr %base, null
  %unset = or i1 %unset1, %unset2
  br i1 %unset, label %no, label %has
has:
  %none = icmp eq ptr %storage, %None
  br i1 %none, label %yes, label %kind
kind:
  %Storage = load ptr, ptr @p_Storage
  %of = call ptr @at(ptr %storage, i64 8)
  %known = icmp eq ptr %of, %Storage
  br i1 %known, label %ask, label %no
ask:
  %False = load ptr, ptr @g_False
  %listing = call ptr @field(ptr %storage, ptr @v_listing_at)
  %views = call ptr @field(ptr %storage, ptr @v_views_at)
  %quiet = icmp eq ptr %listing, %False
  %listed = icmp ne ptr %views, null
  %fine = and i1 %quiet, %listed
  br i1 %fine, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal ptr @view_path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %geometry = alloca [72 x i64]
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %s0 = call i64 @word(ptr %flags, i64 0)
  %s1 = call i64 @word(ptr %flags, i64 1)
  %s2 = call i64 @word(ptr %flags, i64 2)
  %s = or i64 %s0, %s2
  %usual = icmp eq i64 %s, 0
  %all_on = icmp eq i64 %s1, 0
  %unnamed = icmp eq ptr %names, null
  %some = icmp sgt i64 %n, 0
  %c0 = and i1 %usual, %unnamed
  %c = and i1 %c0, %some
  br i1 %c, label %source, label %slow
source:
  %tensor = load ptr, ptr %args
  %type = call ptr @at(ptr %tensor, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %read, label %slow
read:
  %array = call ptr @plain_array(ptr %tensor, i32 0)
  %unfit = icmp eq ptr %array, null
  br i1 %unfit, label %slow, label %memory
memory:
  %quiet = call i1 @unobserved(ptr %tensor)
  br i1 %quiet, label %here, label %slow
here:
  br i1 %all_on, label %graph, label %ask_thread
ask_thread:  ; some thread has gradients off, perhaps this one
  %on_here = call i1 @grad_is_on()
  br label %graph
graph:
  %on = phi i1 [true, %here], [%on_here, %ask_thread]
  %off = xor i1 %on, true
  %None = load ptr, ptr @g_None
  %node = call ptr @field(ptr %tensor, ptr @p_node)
  %free = icmp eq ptr %node, %None
  br i1 %free, label %kernel, label %recorded
recorded:
  br i1 %on, label %find_rule, label %slow
find_rule:
  %attach_name = call ptr @pointer(ptr %words, i64 4)
  %no_rule = icmp eq ptr %attach_name, null
  br i1 %no_rule, label %slow, label %look_up
look_up:
  %globals = load ptr, ptr @p_globals
  %attach = call ptr @PyDict_GetItemWithError(ptr %globals, ptr %attach_name)
  %no_attach = icmp eq ptr %attach, null
  br i1 %no_attach, label %slow, label %kernel
kernel:
  %rule = phi ptr [null, %graph], [%attach, %look_up]
  %ours = call i1 @stands_for(ptr %words)
  br i1 %ours, label %shape, label %slow
shape:
  %kind = call i64 @word(ptr %words, i64 32)
  %told = call i64 @geometry_of(i64 %kind, ptr %array, ptr %args, i64 %n, ptr %geometry)
  %other = icmp eq i64 %told, -1
  br i1 %other, label %slow, label %make
make:
  %view = call ptr @array_view(ptr %array, ptr %geometry)
  %no_view = icmp eq ptr %view, null
  br i1 %no_view, label %clear, label %wrap
clear:
  call void @PyErr_Clear()
  br label %slow
wrap:
  %t = call ptr @tensor_view(ptr %tensor, ptr %view, i1 %off)
  %lost = icmp eq ptr %t, null
  br i1 %lost, label %fail, label %record
record:
  br i1 %free, label %done, label %attach_it
attach_it:
  %attached = call i1 @attach_view(ptr %rule, ptr %t, ptr %args, i64 %n, i64 %told)
  br i1 %attached, label %done, label %drop
done:
  ret ptr %t
drop:
  call void @Py_DecRef(ptr %t)
  br label %fail
fail:
  ret ptr null
slow:
  %quick = call ptr @pointer(ptr %words, i64 36)
  %usual_way = call ptr @quick_call(ptr %quick, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
