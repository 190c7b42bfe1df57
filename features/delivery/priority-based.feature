Feature: PriorityBased
  The broker delivers each message to one subscriber, the waiting message with the highest priority first.

  @DELIVERY-031 @PUBLISH-021 @PUBLISH-022
  Scenario: The highest priority is delivered first
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And the publisher publishes message "low" to queue "alarms" with priority Low
    And the publisher publishes message "plain" to queue "alarms"
    And the publisher publishes message "high" to queue "alarms" with priority High
    And the publisher publishes message "critical" to queue "alarms" with priority Critical
    And the publisher publishes message "normal" to queue "alarms" with priority Normal
    When the subscriber subscribes to queue "alarms"
    Then the subscriber receives messages "critical, high, plain, normal, low"

  @PUBLISH-021
  Scenario: The case of a priority does not matter
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And the publisher publishes message "m1" to queue "alarms" with priority high
    And the publisher publishes message "m2" to queue "alarms" with priority CRITICAL
    When the subscriber subscribes to queue "alarms"
    Then the subscriber receives messages "m2, m1"

  @PUBLISH-023
  Scenario: An unknown priority is treated as Normal
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And the publisher publishes message "low" to queue "alarms" with priority Low
    And the publisher publishes message "odd" to queue "alarms" with priority urgent
    And the publisher publishes message "high" to queue "alarms" with priority High
    When the subscriber subscribes to queue "alarms"
    Then the subscriber receives messages "high, odd, low"

  @DELIVERY-033 @DELIVERY-036
  Scenario: Messages of one priority are delivered in the order of publishing
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And the publisher publishes message "a1" to queue "alarms" with priority High
    And the publisher publishes message "b1" to queue "alarms" with priority Low
    And the publisher publishes message "a2" to queue "alarms" with priority High
    And the publisher publishes message "b2" to queue "alarms" with priority Low
    And the publisher publishes message "a3" to queue "alarms" with priority High
    When the subscriber subscribes to queue "alarms"
    Then the subscriber receives messages "a1, a2, a3, b1, b2"

  @DELIVERY-030 @DELIVERY-032
  Scenario: Each message goes to one subscriber, in turn
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And subscriber A subscribes to queue "alarms"
    And subscriber B subscribes to queue "alarms"
    When the publisher publishes messages "m1 to m4" to queue "alarms"
    Then subscriber A receives messages "m1, m3"
    And subscriber B receives messages "m2, m4"

  @DELIVERY-031 @DELIVERY-039
  Scenario: A message that is given back keeps its priority and its place
    Given queue "alarms" exists with options:
      | mode | PriorityBased |
    And subscriber A subscribes to queue "alarms" for at most 2 messages at a time
    And the publisher publishes message "m1" to queue "alarms" with priority Low
    And the publisher publishes message "m2" to queue "alarms" with priority High
    And the publisher publishes message "m3" to queue "alarms" with priority Low
    And the publisher publishes message "m4" to queue "alarms" with priority High
    And subscriber A receives messages "m1, m2"
    When subscriber A disconnects
    And subscriber B subscribes to queue "alarms"
    Then subscriber B receives messages "m2, m4, m1, m3"

  @DELIVERY-035
  Scenario: In other modes the priority does not change the order
    Given queue "orders" exists
    And the publisher publishes message "m1" to queue "orders" with priority Low
    And the publisher publishes message "m2" to queue "orders" with priority Critical
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "m1, m2"
