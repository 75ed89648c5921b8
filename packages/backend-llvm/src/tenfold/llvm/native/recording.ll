; Recording in native code: a result's node, as data says (recording.py of this package has its words): 0 the class of nodes, 1 how
; many edges, 2 how many saved values, 3 to 6 where _next, _extra, _shape and _number lie in a node, 8 the arguments that edges lead to, and
; from 16 on five words for each saved value: 0 a tensor or number, 1 anything, 2 a tensor's shape; the argument; where the slot
; lies, and that of its version; which edges need it.

@p_Storage = global ptr null   ; the class of storages
@p_version = global i64 0      ; where a storage's version lies
@r_watch = global ptr null     ; counts who wants to see new nodes
@r_active = global i64 0       ; where
@r_zero = global ptr null      ; the number 0
@r_shape = global ptr null     ; the string "shape"
@r_numbers = global ptr null   ; what numbers nodes

declare ptr @PyIter_Next(ptr)

define internal void @replace(ptr %object, ptr %place, ptr %value) alwaysinline {
entry:
  %old = call ptr @field(ptr %object, ptr %place)
  call void @set_field(ptr %object, ptr %place, ptr %value)
  %none = icmp eq ptr %old, null
  br i1 %none, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %old)
  br label %done
done:
  ret void
}

define internal void @put(ptr %object, i64 %offset, ptr %value) alwaysinline {
  %p = getelementptr i8, ptr %object, i64 %offset
  store ptr %value, ptr %p
  ret void
}

; The node of an argument that may be a tensor.
define internal ptr @node_of(ptr %v) alwaysinline {
entry:
  %type = call ptr @at(ptr %v, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %tensor, label %other
tensor:
  %node = call ptr @field(ptr %v, ptr @p_node)
  ret ptr %node
other:
  %None = load ptr, ptr @g_None
  ret ptr %None
}

; The version of an argument that may be a tensor; null where its storage is of another class.
define internal ptr @version_of(ptr %v) alwaysinline {
entry:
  %type = call ptr @at(ptr %v, i64 8)
  %is = call i1 @is_tensor(ptr %type)
  br i1 %is, label %tensor, label %none
tensor:
  %storage = call ptr @field(ptr %v, ptr @p_storage)
  %None = load ptr, ptr @g_None
  %no = icmp eq ptr %storage, %None
  br i1 %no, label %none, label %look
look:
  %unset = icmp eq ptr %storage, null
  br i1 %unset, label %unknown, label %kind
kind:
  %of = call ptr @at(ptr %storage, i64 8)
  %Storage = load ptr, ptr @p_Storage
  %known = icmp eq ptr %of, %Storage
  br i1 %known, label %read, label %unknown
read:
  %version = call ptr @field(ptr %storage, ptr @p_version)
  ret ptr %version
none:
  %zero = load ptr, ptr @r_zero
  ret ptr %zero
unknown:
  ret ptr null
}

; Give a result its node; false where Python has to.
define internal i1 @record(ptr %data, ptr %result, ptr %arguments) {
entry:
  %watch = load ptr, ptr @r_watch
  %active = call ptr @field(ptr %watch, ptr @r_active)
  %zero = load ptr, ptr @r_zero
  %unwatched = icmp eq ptr %active, %zero
  %edges = call i64 @word(ptr %data, i64 1)
  %saves = call i64 @word(ptr %data, i64 2)
  %None = load ptr, ptr @g_None
  br i1 %unwatched, label %check, label %no
check:  ; all versions can be read
  %c = phi i64 [0, %entry], [%cnext, %checked]
  %c_at = phi i64 [16, %entry], [%c_at_next, %checked]
  %c_end = icmp eq i64 %c, %saves
  br i1 %c_end, label %tuple, label %check_one
check_one:
  %c_kind = call i64 @word(ptr %data, i64 %c_at)
  %c_arg_at = add i64 %c_at, 1
  %c_arg = call i64 @word(ptr %data, i64 %c_arg_at)
  %c_value = call ptr @pointer(ptr %arguments, i64 %c_arg)
  %c_tensor = icmp eq i64 %c_kind, 0
  br i1 %c_tensor, label %check_version, label %checked
check_version:
  %c_version = call ptr @version_of(ptr %c_value)
  %c_known = icmp ne ptr %c_version, null
  br i1 %c_known, label %checked, label %no
checked:
  %cnext = add i64 %c, 1
  %c_at_next = add i64 %c_at, 5
  br label %check

tuple:
  %next = call ptr @PyTuple_New(i64 %edges)
  %no_next = icmp eq ptr %next, null
  br i1 %no_next, label %clear, label %edge
edge:
  %e = phi i64 [0, %tuple], [%enext, %edge_one]
  %mask = phi i64 [0, %tuple], [%mask_next, %edge_one]
  %e_end = icmp eq i64 %e, %edges
  br i1 %e_end, label %shape, label %edge_one
edge_one:
  %e_at = add i64 %e, 8
  %e_arg = call i64 @word(ptr %data, i64 %e_at)
  %e_value = call ptr @pointer(ptr %arguments, i64 %e_arg)
  %e_node = call ptr @node_of(ptr %e_value)
  call void @Py_IncRef(ptr %e_node)
  %e_place = add i64 %e, 3
  %e_slot = getelementptr ptr, ptr %next, i64 %e_place
  store ptr %e_node, ptr %e_slot
  %e_wanted = icmp ne ptr %e_node, %None
  %e_one = zext i1 %e_wanted to i64
  %e_bit = shl i64 %e_one, %e
  %mask_next = or i64 %mask, %e_bit
  %enext = add i64 %e, 1
  br label %edge
shape:
  %array = call ptr @field(ptr %result, ptr @p_array)
  %shape_name = load ptr, ptr @r_shape
  %shape_made = call ptr @PyObject_GetAttr(ptr %array, ptr %shape_name)
  %no_shape = icmp eq ptr %shape_made, null
  br i1 %no_shape, label %drop_next, label %make
drop_next:
  call void @Py_DecRef(ptr %next)
  br label %clear
make:
  %Class = call ptr @pointer(ptr %data, i64 0)
  %node = call ptr @PyType_GenericAlloc(ptr %Class, i64 0)
  %no_node = icmp eq ptr %node, null
  br i1 %no_node, label %drop_shape, label %fill
drop_shape:
  call void @Py_DecRef(ptr %shape_made)
  call void @Py_DecRef(ptr %next)
  br label %clear
fill:
  %next_at = call i64 @word(ptr %data, i64 3)
  %extra_at = call i64 @word(ptr %data, i64 4)
  %shape_at = call i64 @word(ptr %data, i64 5)
  call void @Py_IncRef(ptr %None)
  call void @put(ptr %node, i64 %next_at, ptr %next)
  call void @put(ptr %node, i64 %extra_at, ptr %None)
  call void @put(ptr %node, i64 %shape_at, ptr %shape_made)
  %numbers = load ptr, ptr @r_numbers
  %number = call ptr @PyIter_Next(ptr %numbers)
  %no_number = icmp eq ptr %number, null
  br i1 %no_number, label %drop_node, label %number_it
number_it:
  %number_at = call i64 @word(ptr %data, i64 6)
  call void @put(ptr %node, i64 %number_at, ptr %number)
  br label %save
save:
  %s = phi i64 [0, %number_it], [%snext, %saved]
  %s_at = phi i64 [16, %number_it], [%s_at_next, %saved]
  %s_end = icmp eq i64 %s, %saves
  br i1 %s_end, label %done, label %save_one
save_one:
  %s_arg_at = add i64 %s_at, 1
  %s_slot_at = add i64 %s_at, 2
  %s_version_at = add i64 %s_at, 3
  %s_mask_at = add i64 %s_at, 4
  %s_kind = call i64 @word(ptr %data, i64 %s_at)
  %s_arg = call i64 @word(ptr %data, i64 %s_arg_at)
  %s_slot = call i64 @word(ptr %data, i64 %s_slot_at)
  %s_version_slot = call i64 @word(ptr %data, i64 %s_version_at)
  %s_mask = call i64 @word(ptr %data, i64 %s_mask_at)
  %s_value = call ptr @pointer(ptr %arguments, i64 %s_arg)
  %s_always = icmp eq i64 %s_mask, 0
  %s_users = and i64 %s_mask, %mask
  %s_used = icmp ne i64 %s_users, 0
  %s_needed = or i1 %s_always, %s_used
  br i1 %s_needed, label %save_it, label %save_none
save_none:
  call void @Py_IncRef(ptr %None)
  call void @put(ptr %node, i64 %s_slot, ptr %None)
  br label %saved
save_it:
  switch i64 %s_kind, label %saved [
    i64 0, label %save_tensor
    i64 1, label %save_value
    i64 2, label %save_shape
  ]
save_tensor:
  %version = call ptr @version_of(ptr %s_value)
  call void @Py_IncRef(ptr %version)
  call void @put(ptr %node, i64 %s_version_slot, ptr %version)
  br label %save_value
save_value:
  call void @Py_IncRef(ptr %s_value)
  call void @put(ptr %node, i64 %s_slot, ptr %s_value)
  br label %saved
save_shape:
  %s_array = call ptr @field(ptr %s_value, ptr @p_array)
  %s_shape = call ptr @PyObject_GetAttr(ptr %s_array, ptr %shape_name)
  %s_lost = icmp eq ptr %s_shape, null
  br i1 %s_lost, label %drop_node, label %shape_it
shape_it:
  call void @put(ptr %node, i64 %s_slot, ptr %s_shape)
  br label %saved
drop_node:
  call void @Py_DecRef(ptr %node)
  br label %clear
saved:
  %snext = add i64 %s, 1
  %s_at_next = add i64 %s_at, 5
  br label %save
done:
  call void @replace(ptr %result, ptr @p_node, ptr %node)
  ret i1 true
clear:
  call void @PyErr_Clear()
  br label %no
no:
  ret i1 false
}
