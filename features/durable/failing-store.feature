Feature: A store that fails
  When a commit fails, nothing of it was visible: the broker drops what it has in memory, tells everybody, and comes back with what the
  store had kept as soon as the store works again.

  @DURABLE-017 @DURABLE-018
  Scenario: A publish that cannot be saved is not confirmed, and everybody is told
    Given a broker with a durable store
    And the subscriber subscribes to queue "orders"
    When the disk is full
    And the publisher publishes message "m1" to queue "orders"
    Then message "m1" of the publisher is refused with STORAGE_ERROR
    And message "m1" is not confirmed to the publisher
    And the publisher receives a Disconnect whose header "reason" is "storage_error"
    And the broker closes the connection of the publisher
    And the subscriber receives a Disconnect whose header "reason" is "storage_error"
    And the broker closes the connection of the subscriber
    And the subscriber receives no message

  @DURABLE-020
  Scenario: Nobody is let in while the store fails
    Given a broker with a durable store
    And queue "orders" exists
    When the disk is full
    And the publisher publishes message "m1" to queue "orders"
    Then message "m1" of the publisher is refused with STORAGE_ERROR
    And another client is not let in, with STORAGE_ERROR

  @DURABLE-019 @DURABLE-021
  Scenario: The broker comes back by itself with all that was confirmed
    Given a broker with a durable store
    And the publisher publishes messages "m1, m2" to queue "orders"
    And messages "m1, m2" are confirmed to the publisher
    When the disk is full
    And the publisher publishes message "m3" to queue "orders"
    Then message "m3" of the publisher is refused with STORAGE_ERROR
    When the disk has room again
    And another client connects again as soon as it is let in
    And another client subscribes to queue "orders"
    Then another client receives messages "m1, m2"
